/** Looks after the Secret with the gossip key: the Lease's holder makes it, and every replica takes it from MetalLB's Deployment. */
import type { Clock } from "../../base/clock.ts";
import { ArpeggioError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../api-server.ts";
import { createGossipKey, GOSSIP_KEY_BYTES } from "../gossip-key.ts";
import { judge, messageOf } from "../write/answers.ts";
import { Chore } from "./chore.ts";
import { disownRequest, readSecretOwners, readSecretRequest, type SecretOwners } from "./gossip-secret.ts";

export interface GossipSecretKeeperOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly namespace: string;
  readonly name: string;
  /** The Lease is held, read at the moment of use. */
  readonly isLeading: () => boolean;
  readonly fail: (error: unknown) => void;
}

/** It may be made by MetalLB's controller at any time, and be gone with it soon after. */
const LOOK_MS = 10_000;
/** Somebody else wrote meanwhile. */
const AGAIN_MS = 200;
/** After an answer that was none, or an error. */
const RETRY_MS = 2_000;
const FORBIDDEN_MS = 60_000;

export class GossipSecretKeeper {
  readonly #options: GossipSecretKeeperOptions;
  readonly #chore: Chore;
  #problem: string | undefined;

  constructor(options: GossipSecretKeeperOptions) {
    this.#options = options;
    this.#chore = new Chore({ clock: options.clock, fail: options.fail, work: () => this.#look() });
  }

  /** Why the Secret is not as it should be; undefined: it is, or it is not known yet. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** At the start; when the Lease was won, and when Pods came or went. */
  lookNow(): void {
    this.#chore.now();
  }

  close(): void {
    this.#chore.close();
  }

  async #look(): Promise<number> {
    const { namespace, name, isLeading } = this.#options;
    const answer = await this.#request(readSecretRequest(namespace, name), "get");
    if (answer === undefined) return RETRY_MS;
    const verdict = judge(answer);
    if (verdict === "done") {
      const owners = readSecretOwners(answer.body);
      return owners.deployments.length === 0 ? this.#isWell() : this.#disown(owners);
    }
    if (verdict !== "gone") return this.#refused("get", answer);
    // Whoever holds the Lease makes it.
    return isLeading() ? this.#create() : this.#isWell();
  }

  async #disown(owners: SecretOwners): Promise<number> {
    const { namespace, name, log } = this.#options;
    const answer = await this.#request(disownRequest(namespace, name, owners), "patch");
    if (answer === undefined) return RETRY_MS;
    const verdict = judge(answer);
    if (verdict === "gone" || verdict === "conflict") return AGAIN_MS;
    if (verdict !== "done") return this.#refused("patch", answer);
    const deployments = owners.deployments.map((owner) => owner.name);
    log.info("Secret belongs to no Deployment any more", { secret: name, deployments });
    return this.#isWell();
  }

  async #create(): Promise<number> {
    const { api, namespace, name, random, log } = this.#options;
    try {
      const what = await createGossipKey(api, namespace, name, random.bytes(GOSSIP_KEY_BYTES));
      if (what === "created") log.info("Secret with the gossip key made", { secret: name });
      return this.#isWell();
    } catch (error) {
      return this.#note(sentenceOf(error), RETRY_MS);
    }
  }

  async #request(request: ApiRequest, verb: string): Promise<ApiAnswer | undefined> {
    try {
      return await this.#options.api.request(request);
    } catch (error) {
      this.#note(`${verb} of Secret ${this.#options.name}: ${sentenceOf(error)}`, RETRY_MS);
      return undefined;
    }
  }

  #refused(verb: string, answer: ApiAnswer): number {
    const { api, namespace, name } = this.#options;
    const verdict = judge(answer);
    if (verdict === "unauthorized") api.refreshCredentials();
    if (verdict === "forbidden") {
      return this.#note(`may not ${verb} secrets by the name ${name} in namespace ${namespace}`, FORBIDDEN_MS);
    }
    const sentence = messageOf(answer.body) || `HTTP ${answer.status}`;
    const delayMs = Math.max(RETRY_MS, (answer.retryAfterSeconds ?? 0) * 1_000);
    return this.#note(`${verb} of Secret ${name}: ${sentence}`, delayMs);
  }

  #note(problem: string, delayMs: number): number {
    if (problem !== this.#problem) this.#options.log.warn("Secret with the gossip key not kept", { problem });
    this.#problem = problem;
    return delayMs;
  }

  #isWell(): number {
    this.#problem = undefined;
    return LOOK_MS;
  }
}

/** Whatever else is thrown is a fault of ours. */
function sentenceOf(error: unknown): string {
  if (error instanceof ArpeggioError) return error.message;
  throw error;
}
