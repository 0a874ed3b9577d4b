/** Leaders' links are asked for addresses, and what is listened for because of that. */
import { expect } from "chai";
import { LeaderWatch } from "../../speaker/leader-watch.ts";
import { initialStanding } from "../../src/election/standing.ts";
import type { NodeWord } from "../../src/election/word.ts";
import type { Member, SwimCommand } from "../../src/gossip/swim-event.ts";
import { OWN_VERSIONS } from "../../src/gossip/verify-protocol.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import { parseMac } from "../../src/net/mac.ts";
import { parsePrefix } from "../../src/net/prefix.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const VIP = ip("192.0.2.100");
const PREFIX = parsePrefix("192.0.2.0/24") ?? expect.fail();
const [OWN_MAC, THEIR_MAC] = ["02:00:00:00:00:01", "02:00:00:00:00:02"].map((text) => parseMac(text) ?? expect.fail());

const LINK: Link = {
  index: 2,
  name: "eth0",
  mac: OWN_MAC ?? expect.fail(),
  isEthernet: true,
  isLoopback: false,
  isBroadcast: true,
  isNoArp: false,
  masterKind: "none",
  isAdminUp: true,
  hasCarrier: true,
  prefixes: [PREFIX],
  addresses: [ip("192.0.2.1")],
};

const WORD: NodeWord = {
  highestRule: "arpeggio-1",
  ruleInUse: "arpeggio-1",
  flags: ["ready"],
  readySeconds: 0,
  restarts: 0,
  refutes: 0,
  troubleAgeSeconds: 0,
  links: [{ index: 7, isUsable: true, mac: THEIR_MAC ?? expect.fail() }],
  prefixes: [{ linkIndex: 7, prefix: PREFIX }],
  isTruncated: false,
};

describe("LeaderWatch", () => {
  it("pings a leader, and listens for the answers of a leader's link for a second, and then no more", () => {
    const filters: string[] = [];
    const commands: SwimCommand[] = [];
    let sent = 0;
    const member: Member = {
      name: "n2",
      endpoint: { ip: ip("192.0.2.2"), port: 7946 },
      state: "alive",
      incarnation: 1,
      meta: new Uint8Array(),
      versions: OWN_VERSIONS,
      sinceMs: 0,
    };
    const watch = new LeaderWatch(
      "n1",
      {
        links: () => [{ link: LINK, isUsable: true, isReturning: false }],
        standing: initialStanding({ name: "n1", ignoresCordon: false, ignoresExcludeLabel: false, troubles: [] }),
      },
      {
        present: () => [{ member: { ...member, state: "alive", incarnation: 1, meta: new Uint8Array() }, word: WORD }],
      },
      {
        setLinks: () => {},
        failedLinks: () => new Set(),
        setFilter: (linkIndex, addresses) => filters.push(`${linkIndex}: ${[...addresses].join(" ")}`),
        send: () => sent++,
        flush: () => {},
        discardAll: () => 0,
        drainAll: () => {},
      },
      () => ({ command: (command) => void commands.push(command), fast: undefined }),
    );
    watch.probe([{ leader: "n2", ip: VIP }], 500);
    expect(commands).to.deep.equal([{ kind: "ping-members", names: ["n2"] }]);
    expect(filters).to.deep.equal([`2: ${VIP}`]);
    expect(sent).to.equal(1);
    expect(watch.deadlineMs).to.equal(1_500);
    watch.tick(1_499);
    expect(filters).to.have.length(1);
    watch.tick(1_500);
    expect(filters.slice(1)).to.deep.equal(["2: "]);
    expect(watch.deadlineMs).to.equal(undefined);
  });
});
