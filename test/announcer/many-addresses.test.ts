/** What a planned move of a thousand addresses costs, in effects and datagrams rather than in time. */
import { expect } from "chai";
import { AnnouncerDriver } from "../../src/announcer/driver.ts";
import type { Duty, HandoverMessage } from "../../src/announcer/ports.ts";
import { decodeUserMessages, encodeUserMessages, ofLeaders } from "../../src/gossip/user-message.ts";
import type { Ip } from "../../src/net/ip.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import { BASIS, duty, ip, link } from "./rig.ts";

const ADDRESSES = Array.from({ length: 1_000 }, (_, index) => ip(`10.0.${index >> 8}.${index & 255}`));
const LINK = link(1, { prefixes: [parsePrefix("10.0.0.0/8") ?? expect.fail()] });

/** A driver whose ports only count, with its clock. */
class Node {
  readonly payloads: { readonly to: string; readonly bytes: Uint8Array }[] = [];
  readonly answering = new Set<Ip>();
  filters: (readonly Ip[])[] = [];
  nowMs = 0;
  readonly driver: AnnouncerDriver;

  constructor(name: string) {
    this.driver = new AnnouncerDriver({
      nodeName: name,
      packets: {
        setLinks: () => undefined,
        failedLinks: () => new Set(),
        setFilter: (_, addresses) => void this.filters.push([...addresses]),
        send: () => undefined,
        flush: () => undefined,
        discardAll: () => 0,
        drainAll: () => undefined,
      },
      groups: { join: () => undefined, leave: () => undefined },
      sendMessages: (to, messages) => this.#encode(to, messages),
      note: (note) => {
        if (note.kind === "armed") this.answering.add(note.ip);
        if (note.kind === "stopped") this.answering.delete(note.ip);
      },
    });
    this.driver.handle({ kind: "links", links: [LINK] }, this.nowMs);
  }

  lead(changes: Partial<Duty>): void {
    const duties = ADDRESSES.map((address) => duty(address, "lead", { group: address, ...changes }));
    this.driver.handle({ kind: "duty-changes", gone: [], come: duties }, this.nowMs);
  }

  handOverTo(node: string): void {
    const changes = { nextLeader: { node, sendsClaims: true } };
    const duties = ADDRESSES.map((address) => duty(address, "moved", { group: address, ...changes }));
    this.driver.handle({ kind: "duty-changes", gone: [], come: duties }, this.nowMs);
  }

  hear(from: string, bytes: Uint8Array): void {
    const messages = ofLeaders(decodeUserMessages(bytes).messages);
    this.driver.handle({ kind: "messages", from, messages }, this.nowMs);
  }

  pass(durationMs: number): void {
    const endMs = this.nowMs + durationMs;
    for (let dueMs = this.driver.nextDeadlineMs(); dueMs !== undefined && dueMs <= endMs; ) {
      this.nowMs = Math.max(this.nowMs, dueMs);
      this.driver.handle({ kind: "tick" }, this.nowMs);
      dueMs = this.driver.nextDeadlineMs();
    }
    this.nowMs = endMs;
  }

  #encode(to: string, messages: readonly HandoverMessage[]): void {
    for (const bytes of encodeUserMessages(messages)) this.payloads.push({ to, bytes });
  }
}

describe("a planned move of 1,000 addresses", () => {
  const oldLeader = new Node("n1");
  const newLeader = new Node("n2");
  before(() => {
    oldLeader.lead({});
    newLeader.lead({ previousLeader: "n1", second: "n3", basis: { ...BASIS, tier: 1 } });
    newLeader.pass(5);
    oldLeader.handOverTo("n2");
    oldLeader.filters = [];
  });

  it("is claimed by full datagrams, one series for each member", () => {
    for (const node of ["n1", "n3"]) {
      const payloads = newLeader.payloads.filter(({ to }) => to === node);
      expect(payloads.length, node).to.be.lessThan(ADDRESSES.length / 8);
      const claimed = payloads
        .flatMap(({ bytes }) => decodeUserMessages(bytes).messages)
        .flatMap((one) => one.addresses);
      expect(claimed, node).to.have.members(ADDRESSES);
    }
  });
  it("stops with every datagram what it names, and nothing else", () => {
    let heard = 0;
    for (const { to, bytes } of newLeader.payloads) {
      if (to !== "n1") continue;
      heard += decodeUserMessages(bytes).messages.length;
      oldLeader.hear("n2", bytes);
      expect(oldLeader.answering.size).to.equal(ADDRESSES.length - heard);
    }
    expect(heard).to.equal(ADDRESSES.length);
  });
  it("is yielded in as few datagrams, and changes the filter once", () => {
    expect(oldLeader.payloads.length).to.be.lessThan(ADDRESSES.length / 8);
    expect(oldLeader.filters).to.deep.equal([]);
    oldLeader.pass(50);
    expect(oldLeader.filters).to.deep.equal([[]]);
  });
  it("ends the claims", () => {
    const before = newLeader.payloads.length;
    for (const { bytes } of oldLeader.payloads) newLeader.hear("n1", bytes);
    newLeader.pass(1_000);
    expect(newLeader.payloads.length).to.equal(before);
  });
});
