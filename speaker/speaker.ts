/** One speaker, whole: gossip, election and announcer over ports. Every entry notes the time: a gap closes the fence. */
import { AnnouncerDriver } from "../src/announcer/driver.ts";
import type { AnnouncerNote } from "../src/announcer/ports.ts";
import { earliest, isDue } from "../src/base/deadlines.ts";
import type { ChangedKeys, ClusterSnapshot } from "../src/desired/snapshot.ts";
import { isOwnDeath, mayJoin } from "../src/election/standing.ts";
import type { GossipDriver } from "../src/gossip/driver.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import type { SwimNews } from "../src/gossip/swim-event.ts";
import { decodeUserMessages, encodeUserMessages, ofLeaders, type UserMessage } from "../src/gossip/user-message.ts";
import type { Family, Ip } from "../src/net/ip.ts";
import type { Link } from "../src/net/link.ts";
import { Alarm } from "./alarm.ts";
import { CommonMemory } from "./common-memory.ts";
import { Council } from "./council.ts";
import { askMembers, FenceGate } from "./fence-gate.ts";
import { fillsTurn, mayChangeDecision } from "./gossip-news.ts";
import { HEARTBEAT_INTERVAL_MS } from "./heartbeat.ts";
import { Joining } from "./joining.ts";
import { LeaderWatch } from "./leader-watch.ts";
import { Leaving } from "./leaving.ts";
import { MemberViews } from "./member-views.ts";
import { OrphanWatch } from "./orphan-watch.ts";
import { gossipOf } from "./own-gossip.ts";
import { OwnLinks } from "./own-links.ts";
import { Reporting } from "./reporting.ts";
import { Reunion } from "./reunion.ts";
import { Settling } from "./settling.ts";
import type { SpeakerNote, SpeakerPorts, SpeakerSettings } from "./speaker-ports.ts";
import { type Stand, standOf } from "./stand.ts";
import { StrictWatch } from "./strict-watch.ts";
import { Takeovers } from "./takeovers.ts";
import { WordTeller } from "./word-teller.ts";

export class Speaker {
  readonly #ports: SpeakerPorts;
  readonly #report: (note: SpeakerNote) => void;
  readonly members: MemberViews;
  readonly council: Council;
  readonly announcer: AnnouncerDriver;
  readonly gossip: GossipDriver | undefined;
  readonly #takeovers: Takeovers;
  readonly #links: OwnLinks;
  readonly #reporting: Reporting;
  readonly #wordTeller = new WordTeller();
  readonly #answering = new Set<Ip>();
  readonly #joining = new Joining();
  readonly #reunion = new Reunion();
  readonly #leaving = new Leaving();
  readonly #settling: Settling;
  readonly fence: FenceGate;
  readonly #watch: LeaderWatch;
  readonly orphans: OrphanWatch;
  readonly #memory: CommonMemory;
  readonly #alarm: Alarm;
  readonly strict: StrictWatch;
  #isClosed = false;

  constructor(settings: SpeakerSettings, ports: SpeakerPorts, report: (note: SpeakerNote) => void) {
    const nowMs = ports.clock.nowMs();
    this.#ports = ports;
    this.#report = report;
    // It only marks: sockets are read until empty, then deadlines are judged (D16).
    this.#alarm = new Alarm(ports.clock, () => this.#afterReads(() => this.#tick()));
    this.members = new MemberViews(settings.nodeName);
    this.council = new Council(settings, this.members, ports, nowMs);
    this.#links = new OwnLinks(this.council.node, ports.packets);
    const stand = (ip: Ip): Stand | undefined => standOf(this.announcer.addressState(ip), this.orphans.taken.get(ip));
    this.#reporting = new Reporting(settings, ports.clock, this.council, this.#links, stand, report);
    this.fence = new FenceGate(nowMs, ports.fenceTiming, {
      mute: (atMs) => {
        ports.packets.discardAll();
        this.announcer.handle({ kind: "mute" }, atMs);
      },
      unmute: (atMs) => this.announcer.handle({ kind: "unmute" }, atMs),
      ask: (asked) => askMembers(this.gossip, this.members, ports.random, asked),
    });
    this.#watch = new LeaderWatch(settings.nodeName, this.council.node, this.members, ports.packets, () => this.gossip);
    this.orphans = new OrphanWatch(settings.nodeName, {
      council: this.council,
      isOurs: (node) => this.members.isOurs(node),
      stateOf: (ip) => this.announcer.addressState(ip),
      leaseProspect: (ip) => this.strict.prospectOf(ip, ports.clock.nowMs()),
      send: (to, messages) => this.#sendMessages([to], messages),
      probe: (asked, atMs) => this.#watch.probe(asked, atMs),
    });
    this.#memory = new CommonMemory(settings.nodeName, {
      holding: this.council.holding,
      ours: () => this.members.ours,
      send: (to, messages) => this.#sendMessages(to, messages),
      setUserState: (bytes) => this.gossip?.command({ kind: "set-user-state", bytes }),
      remember: (past, atMs) => {
        const troubles = this.council.node.remember(past, atMs);
        if (troubles.length > 0) report({ kind: "remembered", troubles });
      },
    });
    this.#takeovers = new Takeovers(settings.nodeName, report, (name) => this.gossip?.fast?.lastProofMs(name));
    this.announcer = new AnnouncerDriver({
      nodeName: settings.nodeName,
      packets: this.#watch.packets,
      groups: ports.groups,
      sendMessages: (to, messages) => this.#sendMessages([to], messages),
      note: (note, atMs) => this.#announcerNote(note, atMs),
      leaseEndMs: (ip) => this.strict.leases.untilMs(ip),
    });
    this.strict = new StrictWatch(settings, this.members, {
      ...ports,
      nowMs,
      gossip: () => this.gossip,
      announce: (event, atMs) => this.announcer.handle(event, atMs),
      unreachable: (ip, atMs) => this.orphans.noted({ kind: "stopped", ip, cause: "lease-lost" }, atMs),
    });
    this.gossip = gossipOf(settings, ports, {
      tell: (news, atMs) => this.#gossipNews(news, atMs),
      settled: (atMs, event) => this.#settling.settleNews(atMs, fillsTurn(event)),
    });
    this.#settling = new Settling(
      {
        settleOnce: (atMs, budget, asked) => this.#settleOnce(atMs, budget, asked),
        isDeciding: () => this.council.isDeciding || this.#memory.isReading,
        enter: () => this.#enter(),
        afterReads: (callback) => this.#afterReads(callback),
        settled: (atMs) => this.#arm(atMs),
      },
      settings.turnBudget,
    );
  }

  start(): void {
    this.gossip?.start();
    this.#arm(this.#enter());
  }

  /** The machine's links, complete, at the start and after every change. */
  setLinks(links: readonly Link[]): void {
    const nowMs = this.#enter();
    this.council.node.observeLinks(links, nowMs);
    this.#settling.settle(nowMs);
  }

  /** `freshness`: see `setFreshness`. What follows from a snapshot is claimed with its own freshness, not with that of the one before. */
  applySnapshot(snapshot: ClusterSnapshot, changed?: ChangedKeys, freshness?: number): void {
    if (freshness !== undefined) this.setFreshness(freshness);
    const nowMs = this.#enter();
    this.council.applySnapshot(snapshot, this.#answering, nowMs, changed);
    this.strict.applySnapshot(snapshot, nowMs);
    this.#settling.settle(nowMs);
  }

  /** How new the last snapshot is, to compare with other speakers': a revision of the API; 0, as at the start, is not comparable (DESIGN D9). */
  setFreshness(freshness: number): void {
    this.orphans.setFreshness(freshness);
    this.announcer.handle({ kind: "freshness", freshness }, this.#enter());
  }

  /** `named` counts the peers that the user named, whether their addresses are known or not. */
  setPeers(endpoints: readonly Endpoint[], named = endpoints.length): void {
    this.strict.setPeers(endpoints, named, this.#enter());
    this.#joining.setPeers(endpoints, named);
    if (this.#joining.isOpen) this.gossip?.command({ kind: "known-peers", endpoints });
  }

  packetProblemsChanged(): void {
    this.#settling.settle(this.#enter());
  }

  setStepDown(isWanted: boolean): void {
    const nowMs = this.#enter();
    this.council.node.stand({ kind: "step-down", isWanted }, nowMs);
    this.#settling.settle(nowMs);
  }

  /** Says leaving, hands every address over, says goodbye; the note "left" ends it. */
  leave(): void {
    if (this.#leaving.hasBegun) return;
    const nowMs = this.#enter();
    this.council.node.stand({ kind: "leave" }, nowMs);
    this.#leaving.begin(nowMs);
    this.#settling.settle(nowMs);
  }

  /** One frame from a packet socket; `frame` is valid during the call. */
  receiveFrame(linkIndex: number, family: Family, frame: Uint8Array, vlanTag: number | undefined): void {
    const nowMs = this.#enter();
    this.orphans.held(this.#watch.hear(linkIndex, family, frame, vlanTag));
    this.announcer.receive(linkIndex, family, frame, vlanTag, nowMs);
    if ((this.announcer.nextDeadlineMs() ?? Number.POSITIVE_INFINITY) < this.#alarm.atMs) this.#arm(nowMs);
  }

  /** Until when answers may leave: a process that is stopped before must not send them when it goes on, nor when a lease has ended meanwhile. */
  endBatch(): number {
    this.#enter();
    return Math.min(this.fence.framesUntilMs, this.strict.leases.earliestEndMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#settling.close();
    this.#alarm.cancel();
    this.#reporting.close();
    await this.gossip?.close();
  }

  #enter(): number {
    const nowMs = this.#ports.clock.nowMs();
    if (this.fence.turn(nowMs)) this.#arm(nowMs);
    return nowMs;
  }

  /** Called within one event of gossip; what the news mean together is settled after it. */
  #gossipNews(news: SwimNews, nowMs: number): void {
    const readMs = this.#enter();
    if (mayChangeDecision(news)) this.#settling.newsCame();
    switch (news.kind) {
      case "member-changed":
        return this.#takeovers.memberChanged(news.member, news.change, nowMs);
      case "first-contact":
        return this.#joining.contacted(news.how);
      case "heard-again":
        return this.#reunion.heardAgain(news.name, nowMs);
      case "refuted":
        return news.verdict === "dead" ? this.#reunion.refutedDeath() : undefined;
      case "ack-view": {
        const incarnation = this.gossip?.self.incarnation ?? 0;
        if (news.held !== undefined && this.fence.hear(news.held, incarnation, nowMs)) this.#settling.newsCame();
        return this.orphans.proved(news.from, nowMs);
      }
      case "ask-neighbour":
        if (!this.fence.isMute) this.#watch.ask(news.name);
        return;
      case "unwatched":
        if (this.#answering.size > 0) this.fence.unwatched(nowMs);
        return this.#arm(nowMs);
      case "user-message": {
        const { from } = news;
        if (from === undefined) return;
        this.strict.hear(from, news.payload, readMs);
        const { messages: all } = decodeUserMessages(news.payload);
        if (this.#memory.hear(from, all, nowMs)) this.#settling.newsCame();
        const messages = ofLeaders(all);
        const released = this.orphans.hear(from, messages, nowMs);
        const asked = this.council.isDeciding ? messages.flatMap(({ addresses }) => addresses) : released;
        if (asked.length > 0) this.#settling.settleFor(new Set(asked), nowMs);
        this.announcer.handle({ kind: "messages", from, messages }, nowMs);
        if (!this.fence.isMute) this.orphans.answer(from, messages);
        return this.#arm(nowMs);
      }
      case "name-conflict":
        return this.#report({ kind: "name-conflict", node: news.member.name, other: news.other.ip });
      case "left":
        return this.#leaving.goodbyeSaid();
      case "user-state":
        this.#memory.hearState(news.bytes, nowMs);
        return this.#settling.newsCame();
      case "push-pull-done":
      case "proved-alive":
        return;
    }
  }

  #afterReads(callback: () => void): void {
    if (this.gossip === undefined) this.#ports.turns.afterReads(callback);
    else this.gossip.afterDrain(callback);
  }

  /** Level-based: everything is derived anew from what is known now, and only differences reach the wire. */
  #settleOnce(nowMs: number, budget: number, asked: ReadonlySet<Ip>): number {
    this.council.goOnReading(nowMs);
    this.#memory.goOn(nowMs);
    const links = this.#links.refresh(nowMs);
    this.#openWhenReady(nowMs);
    const wasReplaced = this.#meetMembers(nowMs);
    const { decisions, duties, changes, held, budgetLeft } = this.council.decide({
      incarnation: this.gossip?.self.incarnation ?? 1,
      answering: this.#answering,
      orphans: this.orphans.taken,
      wasReplaced,
      saysGoodbye: this.#leaving.hasBegunGoodbye,
      isGone: this.#leaving.isGone,
      nowMs,
      budget: this.#joining.takeOpening() ? 0 : budget,
      asked,
    });
    this.#tellWord(nowMs);
    this.announcer.setPoolPrefixes(this.council.poolPrefixes);
    if (links !== undefined) this.announcer.handle({ kind: "links", links }, nowMs);
    this.#takeovers.begin(changes, nowMs);
    this.announcer.handle({ kind: "duty-changes", ...duties }, nowMs);
    // A claim for what is still led here, but is to be given up, would begin a contest.
    const rivals = this.council.isDeciding ? [] : this.#reunion.takeRivals();
    for (const node of rivals) this.announcer.handle({ kind: "rival", node }, nowMs);
    this.orphans.claimedFrom(rivals, this.#answering);
    this.#watch.follow(decisions, nowMs);
    this.#memory.follow(held, this.members.all(), nowMs);
    if (this.orphans.follow(decisions, nowMs)) this.#settling.newsCame();
    if (changes.length > 0) this.#report({ kind: "leaders", changes });
    this.#reporting.follow(decisions);
    this.#depart(nowMs);
    return budgetLeft;
  }

  /** Neither dials nor answers a push/pull before its snapshot is complete and its sockets are open (D4). */
  #openWhenReady(nowMs: number): void {
    if (this.#joining.isOpen || !this.council.node.hasOpenSockets(nowMs)) return;
    this.council.node.stand({ kind: "sockets-open" }, nowMs);
    if (!mayJoin(this.council.node.standing)) return;
    this.#joining.open();
    this.#tellWord(nowMs);
    this.council.node.stand({ kind: "join-begun", knownPeers: this.#joining.knownPeers }, nowMs);
    this.gossip?.command({ kind: "known-peers", endpoints: this.#joining.endpoints });
    this.gossip?.command({ kind: "open" });
  }

  /** True when a death verdict was refuted outside a merge: others lead in this node's place. */
  #meetMembers(nowMs: number): boolean {
    this.members.update(this.gossip?.members() ?? [], this.gossip?.unproven);
    this.council.node.stand({ kind: "members", others: this.members.electorate() }, nowMs);
    this.announcer.handle({ kind: "members", members: this.members.macs() }, nowMs);
    // Before all is read that peers remember of holders, this node would take what others hold.
    const contact = this.#memory.isReading ? undefined : this.#joining.takeContact();
    if (contact !== undefined) this.council.node.stand({ kind: contact }, nowMs);
    const isReplaced = this.#reunion.takeReplaced(this.members.ours, nowMs);
    if (isReplaced) {
      if (isOwnDeath(this.council.node.standing, nowMs)) this.#report({ kind: "refuted-death" });
      this.council.node.stand({ kind: "refuted-death" }, nowMs);
    }
    // In a merge the smaller side settles, and stops at once: the greater one has answered all the time.
    return isReplaced || (this.#reunion.isMerging(nowMs) && nowMs < this.council.node.standing.settlesUntilMs);
  }

  #tellWord(nowMs: number): void {
    // A new word has a higher incarnation: it would refute, unseen, a verdict that the fence is there to learn of.
    const isWorse = nowMs < this.council.node.standing.settlesUntilMs || this.#leaving.hasBegun;
    if (this.gossip === undefined || !this.#joining.isOpen || (this.fence.isMute && !isWorse)) return;
    const command = this.#wordTeller.tell(this.council.word(nowMs));
    if (command !== undefined) this.gossip.command(command);
  }

  #sendMessages(to: readonly string[], messages: readonly UserMessage[]): void {
    for (const payload of encodeUserMessages(messages)) this.gossip?.command({ kind: "send-user", to, payload });
  }

  #announcerNote(note: AnnouncerNote, nowMs: number): void {
    if (note.kind === "armed") this.#answering.add(note.ip);
    if (note.kind === "stopped") this.#answering.delete(note.ip);
    if (note.kind === "armed" || note.kind === "stopped") this.council.answeringChanged(note.ip);
    this.orphans.noted(note, nowMs);
    if (note.kind === "armed" || note.kind === "stopped") this.#reporting.answeringChanged(note.ip);
    this.strict.noted(note, nowMs);
    if (note.kind === "first-frame") this.#takeovers.firstFrame(note.ip, nowMs);
  }

  #depart(nowMs: number): void {
    if (!this.#leaving.hasBegun) return;
    const handsOver = this.council.handsOver(this.#answering);
    if (this.#leaving.saysGoodbye(this.council.rule.rule, handsOver, nowMs)) {
      this.#settling.newsCame(); // Who is gone is no candidate any more: the others are elected in the same turn.
      if (this.gossip === undefined) this.#leaving.goodbyeSaid();
      else this.gossip.command({ kind: "leave" });
    }
    if (this.#leaving.ends(handsOver, nowMs)) this.#report({ kind: "left" });
  }

  #nextDeadlineMs(nowMs: number): number {
    const deadline = earliest([
      this.announcer.nextDeadlineMs(),
      this.council.nextDeadlineMs(nowMs),
      this.fence.deadlineMs,
      this.#leaving.deadlineMs,
      this.#watch.deadlineMs,
      this.strict.deadlineMs(nowMs),
      ...(this.fence.isMute ? [] : [this.orphans.deadlineMs(), this.#memory.deadlineMs()]),
    ]);
    // The beat: without it a quiet node could not tell a gap from silence.
    return Math.min(deadline ?? Number.POSITIVE_INFINITY, nowMs + HEARTBEAT_INTERVAL_MS);
  }

  #arm(nowMs: number): void {
    if (this.#isClosed) return;
    this.strict.settle(nowMs);
    this.#alarm.set(this.#nextDeadlineMs(nowMs), nowMs);
  }

  #tick(): void {
    if (this.#isClosed) return;
    // The gap is judged first: frames that waited through it are dropped, not answered.
    this.#enter();
    this.#ports.packets.drainAll();
    const nowMs = this.#enter();
    const hasOpened = this.fence.expire(nowMs);
    this.#watch.tick(nowMs);
    if (isDue(this.announcer.nextDeadlineMs(), nowMs)) this.announcer.handle({ kind: "tick" }, nowMs);
    const hasNews = (!this.fence.isMute && this.orphans.tick(nowMs)) || hasOpened;
    if (!this.fence.isMute) this.#memory.tick(nowMs);
    // A tick may come late: what fell due since the last judgement is due, not only what does in this millisecond.
    if (hasNews || isDue(this.council.nextDeadlineMs(this.#settling.settledMs), nowMs) || this.#leaving.hasBegun)
      this.#settling.settle(nowMs);
    else this.#arm(nowMs);
  }
}
