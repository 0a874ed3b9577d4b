/**
 * What stands around the allocator of a cluster: MetalLB's controller, while it runs and what it leaves behind. Adds a gate, keeps the
 * Secret with the gossip key, and on request deletes the webhook that nobody answers any more.
 */
import { POLICIES } from "../api/admission/policies.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { Random } from "../src/base/random.ts";
import type { ApiServer } from "../src/kube/api-server.ts";
import { AllocatorGate } from "../src/kube/metallb/allocator-gate.ts";
import { GossipSecretKeeper } from "../src/kube/metallb/gossip-secret-keeper.ts";
import { isOurs, type NeighbourPod, otherAllocatorText } from "../src/kube/metallb/other-allocator.ts";
import { WebhookRemover, type WebhookState } from "../src/kube/metallb/webhook-remover.ts";
import type { ControllerKindName } from "../src/kube/watch/controller-kinds.ts";
import type { EventSubject, SaidText } from "../src/kube/write/event-object.ts";
import type { Gate } from "./gates.ts";

export interface NeighboursOptions {
  readonly namespace: string;
  /** Empty: the Secret is nobody's business. */
  readonly secretName: string;
  readonly takesOver: boolean;
}

/** The parts of the cluster's controller that are needed here. */
export interface NeighboursPorts {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly isHolder: () => boolean;
  /** Of the own namespace; undefined: not listed yet. */
  readonly pods: () => ReadonlyMap<string, NeighbourPod> | undefined;
  readonly say: (about: EventSubject, text: SaidText) => void;
  /** The gate has opened or closed. */
  readonly check: () => void;
  readonly fail: (error: unknown) => void;
}

export interface NeighboursStatus {
  /** Names of Pods of MetalLB's controller that stand in the way. */
  readonly otherAllocators: readonly string[];
  /** What of MetalLB's could not be put in order, a sentence each. */
  readonly problems: readonly string[];
  /** Absent: `--takeover` was not given. */
  readonly webhook?: WebhookState;
}

export class Neighbours implements Gate {
  readonly #options: NeighboursOptions;
  readonly #ports: NeighboursPorts;
  readonly #gate: AllocatorGate;
  readonly #secret: GossipSecretKeeper | undefined;
  readonly #webhook: WebhookRemover | undefined;
  #wasHolder = false;

  constructor(options: NeighboursOptions, ports: NeighboursPorts) {
    this.#options = options;
    this.#ports = ports;
    const { namespace, secretName, takesOver } = options;
    const { api, clock, random, log, isHolder, fail } = ports;
    this.#gate = new AllocatorGate({ clock, log, onChange: () => this.#changed(), onOther: (pod) => this.#say(pod) });
    const shared = { api, clock, log, namespace, isLeading: isHolder, fail };
    this.#secret = secretName === "" ? undefined : new GossipSecretKeeper({ ...shared, random, name: secretName });
    this.#webhook = takesOver
      ? new WebhookRemover({
          ...shared,
          policies: POLICIES.map(({ name }) => name),
          isOurs: (name) => {
            const pod = ports.pods()?.get(name);
            return pod !== undefined && isOurs(pod);
          },
        })
      : undefined;
  }

  closedBecause(): string | undefined {
    return this.#gate.sentence;
  }

  start(): void {
    this.#lookNow();
  }

  /** Something was read. */
  whenRead(changed: ReadonlySet<ControllerKindName>): void {
    const { isHolder, pods } = this.#ports;
    const listed = changed.has("pods") ? pods() : undefined;
    if (listed !== undefined) this.#gate.podsRead(listed.values());
    if (isHolder() === this.#wasHolder) return;
    this.#wasHolder = isHolder();
    if (!this.#wasHolder) return;
    this.#lookNow();
    for (const pod of this.#gate.others) this.#say(pod);
  }

  status(): NeighboursStatus {
    const problem = this.#secret?.problem;
    return {
      otherAllocators: this.#gate.others.map(({ name }) => name),
      problems: problem === undefined ? [] : [problem],
      ...(this.#webhook === undefined ? {} : { webhook: this.#webhook.state }),
    };
  }

  close(): void {
    this.#gate.close();
    this.#secret?.close();
    this.#webhook?.close();
  }

  #changed(): void {
    this.#ports.check();
    this.#lookNow();
  }

  #lookNow(): void {
    this.#secret?.lookNow();
    this.#webhook?.lookNow();
  }

  /** Whoever holds the Lease says it. One that has just won it says all, what was read in the same moment with the rest. */
  #say({ name, uid }: NeighbourPod): void {
    const { isHolder, say } = this.#ports;
    if (!isHolder() || !this.#wasHolder) return;
    say({ apiVersion: "v1", kind: "Pod", namespace: this.#options.namespace, name, uid }, otherAllocatorText());
  }
}
