/**
 * The speaker's own answering path in a process of its own: announcer, packet sockets, link watcher, with nothing to elect.
 * `node speaker.js LINK FIRST-ADDRESS ADDRESSES [heard FIRST-ADDRESS ADDRESSES]`: leads the addresses of the first row; those
 * of the second pass the kernel filter too, as they would through a socket without one.
 */
import { AnnouncerDriver } from "../../src/announcer/driver.ts";
import type { ClaimBasis, Duty } from "../../src/announcer/ports.ts";
import { unionOf } from "../../src/net/address-set.ts";
import { type Ip, ipOfBigInt, ipToBigInt, parseIp } from "../../src/net/ip.ts";
import { isLinkUp } from "../../src/net/link.ts";
import { LinkWatcher } from "../../src/sys/link-watcher.ts";
import { MulticastGroups } from "../../src/sys/multicast-groups.ts";
import { PacketLinks } from "../../src/sys/packet-links.ts";
import { SystemClock } from "../../src/sys/system-clock.ts";

const [linkName = "", first = "", count = "", , heardFirst = "", heardCount = "0"] = process.argv.slice(2);
const led = addressesFrom(first, Number(count));
const heard = heardFirst === "" ? [] : addressesFrom(heardFirst, Number(heardCount));

const basis: ClaimBasis = {
  incarnation: 1,
  rule: "arpeggio-1",
  term: 0,
  freshness: 0,
  tier: 1,
  score: 0,
  endpointClass: "",
  hash: "",
};

const clock = new SystemClock();
const groups = new MulticastGroups();
const packets = new PacketLinks({
  clock,
  onFrame: (linkIndex, family, frame, vlanTag) => driver.receive(linkIndex, family, frame, vlanTag, clock.nowMs()),
});
const driver = new AnnouncerDriver({
  nodeName: "bench",
  packets: {
    setLinks: (links) => packets.setLinks(links),
    failedLinks: () => packets.failedLinks(),
    setFilter: (linkIndex, addresses, prefixes, come) =>
      packets.setFilter(linkIndex, unionOf(addresses, new Set(heard)), prefixes, [...come, ...heard]),
    send: (linkIndex, family, bytes) => packets.send(linkIndex, family, bytes),
    flush: () => packets.flush(),
    discardAll: () => packets.discardAll(),
    drainAll: () => packets.drainAll(),
  },
  groups,
  sendMessages: () => undefined,
  note: () => undefined,
});

const watcher = new LinkWatcher({
  clock,
  onChange: (all) => {
    const links = all.filter((link) => link.name === linkName).map((link) => ({ ...link, isUsable: isLinkUp(link) }));
    packets.setLinks(links.filter((link) => link.isUsable));
    groups.setLinks(all.map((link) => link.index));
    driver.handle({ kind: "links", links }, clock.nowMs());
    driver.handle({ kind: "duty-changes", gone: [], come: led.map(leads) }, clock.nowMs());
  },
});
watcher.start();
tick();

function leads(ip: Ip): Duty {
  return { ip, group: ip, interfaces: [], role: "lead", basis };
}

function tick(): void {
  driver.handle({ kind: "tick" }, clock.nowMs());
  clock.schedule(100, tick);
}

function addressesFrom(text: string, addresses: number): Ip[] {
  const start = parseIp(text);
  if (start === undefined) throw new Error(`no address: ${text}`);
  return Array.from({ length: addresses }, (_, index) => ipOfBigInt(ipToBigInt(start) + BigInt(index), 4));
}
