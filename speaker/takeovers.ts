/** How long detection and take-over took, for the metrics: last sign of life (or suspicion) to verdict, and lost leader to the first own frame. */
import type { Member, MemberChange } from "../src/gossip/swim-event.ts";
import type { Ip } from "../src/net/ip.ts";
import type { LeaderChange } from "./leadership.ts";
import type { SpeakerNote } from "./speaker-ports.ts";

export class Takeovers {
  readonly #self: string;
  readonly #report: (note: SpeakerNote) => void;
  readonly #lastProofMs: (name: string) => number | undefined;
  readonly #begunMs = new Map<Ip, number>();
  readonly #suspectedMs = new Map<string, number>();

  /** `lastProofMs`: a member's last sign of life, where this node watched it. */
  constructor(
    self: string,
    report: (note: SpeakerNote) => void,
    lastProofMs: (name: string) => number | undefined = () => undefined,
  ) {
    this.#self = self;
    this.#report = report;
    this.#lastProofMs = lastProofMs;
  }

  memberChanged(member: Member, change: MemberChange, nowMs: number): void {
    if (change === "suspected") this.memberSuspected(member.name, nowMs);
    if (change === "alive-again") this.memberWell(member.name);
    if (change === "dead" || change === "left") this.memberGone(member, change, nowMs);
  }

  memberSuspected(name: string, nowMs: number): void {
    this.#suspectedMs.set(name, nowMs);
  }

  memberWell(name: string): void {
    this.#suspectedMs.delete(name);
  }

  memberGone(member: Member, change: "dead" | "left", nowMs: number): void {
    const suspectedMs = this.#lastProofMs(member.name) ?? this.#suspectedMs.get(member.name);
    this.#suspectedMs.delete(member.name);
    if (change === "left" || suspectedMs === undefined) return;
    this.#report({ kind: "detected", node: member.name, seconds: (nowMs - suspectedMs) / 1_000 });
  }

  begin(changes: readonly LeaderChange[], nowMs: number): void {
    for (const { ip, from, to } of changes) {
      if (to === this.#self && from !== undefined) this.#begunMs.set(ip, nowMs);
      else this.#begunMs.delete(ip);
    }
  }

  firstFrame(ip: Ip, nowMs: number): void {
    const begunMs = this.#begunMs.get(ip);
    if (begunMs === undefined) return;
    this.#begunMs.delete(ip);
    this.#report({ kind: "took-over", seconds: (nowMs - begunMs) / 1_000 });
  }
}
