/** The schedules of all links, and the frames that come out of them (DESIGN D11). */
import { familyOf, type Ip } from "../net/ip.ts";
import type { Address } from "./address.ts";
import { announcementFrame, framesPerBurst } from "./announcement.ts";
import { holderQuestion } from "./holder-question.ts";
import type { AnnounceLink, AnnouncerEffect } from "./ports.ts";
import { LinkSchedule } from "./schedule.ts";

/** What a frame about to leave is checked against. */
export interface AnnouncingView {
  /** The address, if it is led and answered on the link. */
  readonly announcing: (ip: Ip, linkIndex: number) => Address | undefined;
  /** Whether the segment is to be asked who holds the address. */
  readonly isSeeking: (ip: Ip, linkIndex: number) => boolean;
  readonly linkOf: (linkIndex: number) => AnnounceLink | undefined;
}

export class Announcements {
  readonly #schedules = new Map<number, LinkSchedule>();
  #frames = 0;

  /** Unsolicited frames handed out so far. */
  frames(): number {
    return this.#frames;
  }

  start(ip: Ip, linkIndex: number, nowMs: number): void {
    this.#scheduleOf(linkIndex, nowMs).start(ip, framesPerBurst(ip), nowMs);
  }

  once(ip: Ip, linkIndex: number, nowMs: number): void {
    this.#scheduleOf(linkIndex, nowMs).once(ip, framesPerBurst(ip), nowMs);
  }

  /** Asks for the address, in the rhythm in which its new holder may announce it. */
  seek(ip: Ip, linkIndex: number, nowMs: number): void {
    this.#scheduleOf(linkIndex, nowMs).start(ip, 1, nowMs);
  }

  cancel(ip: Ip, linkIndex: number): void {
    this.#schedules.get(linkIndex)?.cancel(ip);
  }

  /** Forgets links that are gone. */
  keep(isKnownLink: (linkIndex: number) => boolean): void {
    for (const linkIndex of this.#schedules.keys()) {
      if (!isKnownLink(linkIndex)) this.#schedules.delete(linkIndex);
    }
  }

  /** Frames that may leave now, each followed by what is to be noted of it. */
  drain(view: AnnouncingView, nowMs: number): AnnouncerEffect[] {
    const effects: AnnouncerEffect[] = [];
    for (const [linkIndex, schedule] of this.#schedules) {
      const link = view.linkOf(linkIndex);
      if (link === undefined) continue;
      const maySpeak = (ip: Ip): boolean =>
        view.announcing(ip, linkIndex) !== undefined || view.isSeeking(ip, linkIndex);
      for (let due = schedule.next(nowMs, maySpeak); due !== undefined; due = schedule.next(nowMs, maySpeak)) {
        const address = view.announcing(due.ip, linkIndex);
        if (address === undefined) {
          effects.push(...questionOn(link, due.ip));
          continue;
        }
        const { ip, family } = address;
        this.#frames++;
        address.announcementsSent++;
        effects.push({ kind: "frame", linkIndex, family, bytes: announcementFrame(ip, link.mac, due.frame) });
        if (!address.hasAnnounced) effects.push({ kind: "noted", note: { kind: "first-frame", ip, linkIndex } });
        address.hasAnnounced = true;
        address.lastAnnouncementMs = nowMs;
        if (due.isLastOfBurst) effects.push({ kind: "noted", note: { kind: "announced", ip, linkIndex } });
      }
    }
    return effects;
  }

  nextDeadlineMs(): number | undefined {
    let nextMs: number | undefined;
    for (const schedule of this.#schedules.values()) {
      const atMs = schedule.nextDeadlineMs();
      if (atMs !== undefined && (nextMs === undefined || atMs < nextMs)) nextMs = atMs;
    }
    return nextMs;
  }

  #scheduleOf(linkIndex: number, nowMs: number): LinkSchedule {
    const known = this.#schedules.get(linkIndex);
    if (known !== undefined) return known;
    const schedule = new LinkSchedule(nowMs);
    this.#schedules.set(linkIndex, schedule);
    return schedule;
  }
}

function questionOn(link: AnnounceLink, ip: Ip): AnnouncerEffect[] {
  const bytes = holderQuestion(ip, link);
  return bytes === undefined ? [] : [{ kind: "frame", linkIndex: link.index, family: familyOf(ip), bytes }];
}
