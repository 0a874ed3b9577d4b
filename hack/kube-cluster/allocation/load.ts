/** Services that come, change and go at a steady pace: 200 of each in a minute. */
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { forEach } from "../drills/patient-requests.ts";
import { type Families, makeService, patchService, removeService } from "./services.ts";

const INTERVAL_MS = 300;
/** In steps: so old is a Service when it changes, and when it goes. About a hundred are there at a time. */
const CHANGES_AFTER = 50;
const GOES_AFTER = 100;
/** Between leaving the type and coming back to it. */
const AWAY_MS = 2_000;
const AT_ONCE = 8;
const FAMILIES: readonly Families[] = ["both", "IPv4", "IPv6"];

const TWO_PORTS = {
  spec: {
    ports: [
      { name: "first", port: 80 },
      { name: "second", port: 81 },
    ],
  },
};
const LABELS = { metadata: { labels: { "drill.example.org/changed": "yes" } } };
/** So often somebody else writes a new Service, one after the other, while its addresses are written: some of those writes are answered 409. */
const MEDDLINGS = 5;
const meddling = (turn: number): object => ({ metadata: { labels: { "drill.example.org/turn": String(turn) } } });
const CLUSTER_IP = { spec: { type: "ClusterIP" } };
const LOAD_BALANCER = { spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false } };

export class ServiceLoad {
  readonly #api: ApiServer;
  readonly #working = new Set<Promise<void>>();
  readonly #there = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #steps = 0;
  #failure: Error | undefined;
  created = 0;
  changed = 0;
  deleted = 0;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  start(): void {
    this.#timer = setInterval(() => this.#step(), INTERVAL_MS);
  }

  /** Nothing more is begun; ends when what was begun is done. Throws what one of the requests threw. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#working);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async removeAll(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#working);
    await forEach([...this.#there], AT_ONCE, (name) => removeService(this.#api, name));
  }

  #step(): void {
    const number = this.#steps++;
    this.#do(() => this.#create(number));
    if (number >= CHANGES_AFTER) this.#do(() => this.#change(number - CHANGES_AFTER));
    if (number >= GOES_AFTER) this.#do(() => this.#delete(number - GOES_AFTER));
  }

  #do(work: () => Promise<void>): void {
    const working = work()
      .catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async #create(number: number): Promise<void> {
    this.#there.add(nameOf(number));
    await makeService(this.#api, nameOf(number), FAMILIES[number % FAMILIES.length] ?? "both");
    for (let turn = 0; turn < MEDDLINGS; turn++) await patchService(this.#api, nameOf(number), meddling(turn));
    this.created++;
  }

  async #change(number: number): Promise<void> {
    const name = nameOf(number);
    const change = number % 3;
    if (change === 0) await patchService(this.#api, name, TWO_PORTS);
    else if (change === 1) await patchService(this.#api, name, LABELS);
    else {
      await patchService(this.#api, name, CLUSTER_IP);
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
      await patchService(this.#api, name, LOAD_BALANCER);
    }
    this.changed++;
  }

  async #delete(number: number): Promise<void> {
    await removeService(this.#api, nameOf(number));
    this.#there.delete(nameOf(number));
    this.deleted++;
  }
}

function nameOf(number: number): string {
  return `c${number}`;
}
