/** With `--takeover`: deletes MetalLB's webhook configuration when nobody answers it and the validation policies stand in its place. */
import type { Clock } from "../../base/clock.ts";
import { ArpeggioError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../api-server.ts";
import { judge, messageOf } from "../write/answers.ts";
import { Chore } from "./chore.ts";
import {
  deleteWebhookRequest,
  endpointsRequest,
  type LeftWebhook,
  type PolicyPart,
  policyRequest,
  readLeftWebhook,
  readWebhookRequest,
  readyEndpoints,
} from "./left-webhook.ts";

export interface WebhookRemoverOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly log: Log;
  /** MetalLB's and ours. */
  readonly namespace: string;
  /** Names of the validation policies, each with a binding of its name. */
  readonly policies: readonly string[];
  /** Whether the Pod of that name is one of ours. */
  readonly isOurs: (podName: string) => boolean;
  /** The Lease is held, read at the moment of use. */
  readonly isLeading: () => boolean;
  readonly fail: (error: unknown) => void;
}

/** absent: there is none, or it was deleted. kept: why it is not deleted yet. undefined: not known yet. */
export type WebhookState =
  | { readonly kind: "absent" }
  | { readonly kind: "kept"; readonly why: string }
  | { readonly kind: "unknown"; readonly why?: string };

/** MetalLB may be installed anew. */
const ABSENT_MS = 60_000;
/** While it is waited for endpoints to go, and for policies to come. */
const WAIT_MS = 3_000;
const FORBIDDEN_MS = 60_000;
/** The API server enforces a new policy 3 to 5 s after its creation. */
const ENFORCED_MS = 10_000;

/** Ends a look: nothing more can be done now. */
interface Halt {
  readonly kind: "halt";
  readonly state: WebhookState;
  readonly delayMs: number;
}

type Asked = Halt | { readonly kind: "found"; readonly body: unknown } | { readonly kind: "none" };

export class WebhookRemover {
  readonly #options: WebhookRemoverOptions;
  readonly #chore: Chore;
  #state: WebhookState = { kind: "unknown" };
  /** Monotonic: since when every policy has been seen. */
  #inPlaceSinceMs: number | undefined;

  constructor(options: WebhookRemoverOptions) {
    this.#options = options;
    this.#chore = new Chore({ clock: options.clock, fail: options.fail, work: () => this.#look() });
  }

  get state(): WebhookState {
    return this.#state;
  }

  /** At the start; when the Lease was won, and when Pods came or went. */
  lookNow(): void {
    this.#chore.now();
  }

  close(): void {
    this.#chore.close();
  }

  async #look(): Promise<number> {
    if (!this.#options.isLeading()) return this.#end({ kind: "unknown" }, ABSENT_MS);
    const { state, delayMs } = await this.#tryRemove();
    return this.#end(state, delayMs);
  }

  async #tryRemove(): Promise<Halt> {
    const found = await this.#ask(readWebhookRequest(), "get validatingwebhookconfigurations");
    if (found.kind === "halt") return found;
    if (found.kind === "none") return halt({ kind: "absent" }, ABSENT_MS);
    const webhook = readLeftWebhook(found.body);
    const obstacle = (await this.#answered(webhook)) ?? (await this.#missingPolicies());
    if (obstacle !== undefined) return obstacle;
    const deleted = await this.#ask(deleteWebhookRequest(webhook), "delete validatingwebhookconfigurations");
    if (deleted.kind === "halt") return deleted;
    this.#options.log.info("MetalLB's webhook configuration deleted: nobody answers it");
    return halt({ kind: "absent" }, ABSENT_MS);
  }

  /** Why the webhook is still of use. */
  async #answered({ services }: LeftWebhook): Promise<Halt | undefined> {
    const { namespace, isOurs } = this.#options;
    if (services === undefined || services.some((service) => service.namespace !== namespace)) {
      return kept(`it asks others than Services in namespace ${namespace}`, FORBIDDEN_MS);
    }
    for (const service of services) {
      const slices = await this.#ask(endpointsRequest(service), "list endpointslices");
      if (slices.kind === "halt") return slices;
      const [ready] = slices.kind === "none" ? [] : readyEndpoints(slices.body, isOurs);
      if (ready !== undefined) return kept(`Service ${service.name} still has the ready endpoint ${ready}`, WAIT_MS);
    }
    return undefined;
  }

  /** Why nothing would check what is applied once the webhook is gone. */
  async #missingPolicies(): Promise<Halt | undefined> {
    const { policies, clock } = this.#options;
    const parts = policies.flatMap((name): PolicyPart[] => [
      { resource: "validatingadmissionpolicies", name },
      { resource: "validatingadmissionpolicybindings", name },
    ]);
    for (const part of parts) {
      const found = await this.#ask(policyRequest(part), `get ${part.resource}`);
      if (found.kind === "found") continue;
      this.#inPlaceSinceMs = undefined;
      if (found.kind === "halt") return found;
      return kept(`there is no ${part.resource} ${part.name}: apply manifests/components/validation`, WAIT_MS);
    }
    this.#inPlaceSinceMs ??= clock.nowMs();
    const leftMs = this.#inPlaceSinceMs + ENFORCED_MS - clock.nowMs();
    return leftMs > 0 ? kept("the validation policies are not enforced everywhere yet", leftMs) : undefined;
  }

  async #ask(request: ApiRequest, right: string): Promise<Asked> {
    const { api } = this.#options;
    let answer: ApiAnswer;
    try {
      answer = await api.request(request);
    } catch (error) {
      if (!(error instanceof ArpeggioError)) throw error;
      return halt({ kind: "unknown", why: error.message }, WAIT_MS);
    }
    const verdict = judge(answer);
    switch (verdict) {
      case "done":
        return { kind: "found", body: answer.body };
      case "gone":
        return { kind: "none" };
      case "conflict":
        return halt({ kind: "unknown" }, WAIT_MS);
      case "forbidden":
        return halt({ kind: "unknown", why: `may not ${right}: apply manifests/components/takeover` }, FORBIDDEN_MS);
      case "unauthorized":
        api.refreshCredentials();
        break;
      case "busy":
      case "refused":
        break;
      default:
        verdict satisfies never;
    }
    return halt({ kind: "unknown", why: `${right}: ${messageOf(answer.body) || `HTTP ${answer.status}`}` }, WAIT_MS);
  }

  #end(state: WebhookState, delayMs: number): number {
    const why = "why" in state ? state.why : undefined;
    const before = "why" in this.#state ? this.#state.why : undefined;
    if (why !== undefined && why !== before) this.#options.log.info("MetalLB's webhook configuration stays", { why });
    this.#state = state;
    return delayMs;
  }
}

function halt(state: WebhookState, delayMs: number): Halt {
  return { kind: "halt", state, delayMs };
}

function kept(why: string, delayMs: number): Halt {
  return halt({ kind: "kept", why }, delayMs);
}
