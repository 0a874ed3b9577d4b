/** What a speaker tells when it has settled: whether it is ready, what became of its configuration, what it has to write. */
import type { Clock, Timer } from "../src/base/clock.ts";
import type { ListDifference } from "../src/base/list-difference.ts";
import { isSameList } from "../src/base/same-list.ts";
import type { Decision } from "../src/election/decision.ts";
import type { Ip } from "../src/net/ip.ts";
import type { Council } from "./council.ts";
import type { OwnLinks } from "./own-links.ts";
import { ServiceReports } from "./service-reports.ts";
import type { Readiness, SpeakerNote, SpeakerSettings } from "./speaker-ports.ts";
import type { Stand } from "./stand.ts";

/** Before each part of a list of reports: received frames come first. */
const PART_MS = 10;

export class Reporting {
  readonly #settings: SpeakerSettings;
  readonly #clock: Clock;
  readonly #council: Council;
  readonly #links: OwnLinks;
  readonly #tell: (note: SpeakerNote) => void;
  readonly #standOf: (ip: Ip) => Stand | undefined;
  readonly #services: ServiceReports;
  #readiness: Readiness = "reading-sources";
  #refusal: string | undefined;
  #hasBegun = false;
  #members: readonly string[] = [];
  #timer: Timer | undefined;

  constructor(
    settings: SpeakerSettings,
    clock: Clock,
    council: Council,
    links: OwnLinks,
    standOf: (ip: Ip) => Stand | undefined,
    tell: (note: SpeakerNote) => void,
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#council = council;
    this.#links = links;
    this.#standOf = standOf;
    this.#tell = tell;
    this.#services = new ServiceReports(settings.nodeName);
  }

  /** Tells what has changed; `decisions`: those that are others than before. */
  follow(decisions: ListDifference<Decision>): void {
    if (this.#settings.reportsServices) this.#services.takeDecisions(decisions);
    const readiness = this.#council.node.readiness();
    if (readiness !== this.#readiness) this.#tell({ kind: "readiness", readiness });
    this.#readiness = readiness;
    const refusal = this.#council.configurationRefusal;
    if (refusal !== this.#refusal) this.#tell({ kind: "configuration", ...(refusal === undefined ? {} : { refusal }) });
    this.#refusal = refusal;
    // Never in the turn that decides: what is to be said is much as well.
    if (this.#mayReport) this.#followSoon();
  }

  /** Who is not ready knows less than the others: what it would write might be wrong. */
  get #mayReport(): boolean {
    return this.#settings.reportsServices && this.#readiness === "ready" && !this.#council.isDeciding;
  }

  /** This node has begun or ceased to answer for the address: who is to write about it may be another than before. */
  answeringChanged(ip: Ip): void {
    const decision = this.#settings.reportsServices ? this.#council.decisionOf(ip) : undefined;
    if (decision === undefined || decision.group.addresses[0] !== ip) return;
    if (this.#services.standChanged(decision, this.#standOf(ip))) this.#followSoon();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #tellMembers(names: readonly string[]): void {
    if (isSameList(names, this.#members)) return;
    this.#members = names;
    this.#tell({ kind: "members", names });
  }

  #followServices(): void {
    const nowMs = this.#clock.nowMs();
    const wallMs = this.#clock.wallMs();
    const { leadership, derived, ownLabels, electors } = this.#council;
    const { changes, isEnd } = this.#services.follow({
      leadership,
      refused: derived.refused,
      links: this.#links.current,
      ownLabels,
      standOf: this.#standOf,
      nowMs,
      members: electors,
      wallMsOf: (atMs) => wallMs - (nowMs - atMs),
    });
    this.#tellMembers(electors.map(({ name }) => name));
    // The first time even nothing is said: a speaker that has read everything has nothing to write about.
    if (changes.length > 0 || (isEnd && !this.#hasBegun)) this.#tell({ kind: "services", changes, isEnd });
    this.#hasBegun = true;
    if (!isEnd) this.#followSoon();
  }

  #followSoon(): void {
    this.#timer ??= this.#clock.schedule(PART_MS, () => {
      this.#timer = undefined;
      if (this.#mayReport) this.#followServices();
    });
  }
}
