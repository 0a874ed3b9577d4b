import { expect } from "chai";
import fc from "fast-check";
import { ADDRESS_REASONS, TIER_REASONS } from "../../api/reasons.ts";
import { formatAddress } from "../../src/http/address-text.ts";
import { reasonText } from "../../src/http/reason-text.ts";
import { formatStatus } from "../../src/http/status-text.ts";
import { formatAge, formatTable } from "../../src/http/table.ts";
import { ADDRESS, AT, STATUS } from "./example-documents.ts";

describe("formatStatus", () => {
  it("prints everything, aligned", () => {
    expect(formatStatus(STATUS)).to.equal(
      [
        "node     n1, arpeggio 1.2.3, up 2h2m",
        "state    ready for 5m0s",
        "says     ready",
        "election metallb-1 for 30s: member-can-less (n3)",
        "gossip   192.0.2.11:7946, encrypted",
        "",
        "source   files /etc/arpeggio: current, changed 12s ago",
        "         1 IPAddressPool, 2 Service",
        "       ! services.yaml:12: spec.type is no string",
        "",
        "MEMBER     STATE    FOR   ENDPOINT             INCARNATION  SAYS",
        "n1 (here)  alive    1h0m  192.0.2.11:7946      3            ready",
        "n2         suspect  1s    [2001:db8::12]:7946  1            ready, cordoned",
        "n3         alive    9d1h  192.0.2.13:7946      0            MetalLB speaker",
        "",
        "LINK  INDEX  MAC                ANSWERS         PREFIXES",
        "eth0  2      02:00:00:00:00:01  yes             192.0.2.0/24 2001:db8::/64",
        "eth1  3      02:00:00:00:01:01  no: no-carrier",
        "! eth1: the packet socket was closed: ENETDOWN",
        "",
        "ADDRESS                                 LEADER  HERE     REASON       FOR   BEFORE  ANSWERED  SERVICES",
        "192.0.2.100                             n1      leading  lowest-hash  3m4s  n2      12345     default/web default/web-udp",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff  n1      leading  lowest-hash  3m4s  -       0         default/web",
        "198.51.100.7                            -       nobody   no-pool      5m0s  -       0         shop/cart",
        "",
      ].join("\n"),
    );
  });

  it("says what is wrong in capitals", () => {
    const text = formatStatus({
      ...STATUS,
      ready: { isReady: false, reason: "reading-sources", since: AT },
      gossip: { isOn: true, detection: "gossip", isEncrypted: false },
    });
    expect(text).to.include("state    NOT READY (reading-sources) for 0s\n");
    expect(text).to.include("gossip   not bound yet, NOT ENCRYPTED\n");
  });

  it("says who notices a lost node when gossip is off, and that a configuration was refused", () => {
    for (const [detection, line] of [
      ["api-server", "gossip   off: the death of a node is noticed by the API server\n"],
      ["none", "gossip   off: this node is alone\n"],
    ] as const) {
      const text = formatStatus({ ...STATUS, gossip: { isOn: false, detection, isEncrypted: false } });
      expect(text).to.include(line);
    }
    const refusedConfiguration = "no pool holds 192.0.2.1 any more";
    const text = formatStatus({ ...STATUS, election: { ...STATUS.election, refusedConfiguration } });
    expect(text).to.include("         ! no pool holds 192.0.2.1 any more\n");
  });

  it("tells nothing read yet from nothing there", () => {
    const reading = formatStatus({
      ...STATUS,
      sources: [{ kind: "files", state: "reading", objects: {}, problems: [] }],
      members: [],
      links: [],
      addresses: [],
    });
    expect(reading).to.include("source   files: reading\n");
    expect(reading.endsWith("no addresses\n")).to.equal(true);
  });

  it("shows what every watch of the API server does", () => {
    const text = formatStatus({
      ...STATUS,
      sources: [
        {
          kind: "kubernetes",
          location: "https://10.96.0.1:443",
          state: "stale",
          objects: { Service: 2 },
          problems: [],
          watches: [
            {
              kind: "Service",
              state: "watching",
              objects: 2,
              lastEvent: "2026-01-01T11:59:48.000Z",
              reconnects: 3,
              relists: 1,
            },
            {
              kind: "Pod",
              state: "waiting",
              objects: 0,
              reconnects: 0,
              relists: 0,
              lastError: "403: may not list pods",
            },
          ],
        },
      ],
    });
    expect(text).to.include(
      [
        "source   kubernetes https://10.96.0.1:443: stale",
        "         2 Service",
        "",
        "KIND     STATE     OBJECTS  LAST EVENT  RECONNECTS  RE-LISTS  LAST ERROR",
        "Service  watching  2        12s ago     3           1         -",
        "Pod      waiting   0        -           0           0         403: may not list pods",
        "",
        "MEMBER ",
      ].join("\n"),
    );
  });

  it("shows who watches a leader, and how long it was silent where this node does", () => {
    const [n1, n2, n3] = STATUS.members;
    if (n1 === undefined || n2 === undefined || n3 === undefined) throw new Error("three members are wanted");
    const watch = { by: ["n1", "n3"], longestSilenceMs: 180, deadlineMs: 450, isAccused: false } as const;
    const text = formatStatus({
      ...STATUS,
      members: [
        { ...n1, watch: { by: ["n2", "n3"] } },
        { ...n2, watch },
        { ...n3, watch: { ...watch, by: [], isAccused: true } },
      ],
    });
    const table = text.slice(text.indexOf("MEMBER"), text.indexOf("LINK ")).trimEnd().split("\n");
    expect(table.map((line) => line.slice(60).trim())).to.deep.equal([
      "SAYS             WATCHED BY  SILENT",
      "ready            n2 n3       -",
      "ready, cordoned  n1 n3       180 of 450 ms",
      "MetalLB speaker  nobody      180 of 450 ms, ACCUSED",
    ]);
  });

  it("shows what is written to the API server, and what hinders it", () => {
    const writes = { pending: 0, written: 12, failed: 0, isApiAway: false, missingRights: [] };
    const quiet = formatStatus({
      ...STATUS,
      writtenBack: { objects: writes, events: { ...writes, written: 5, dropped: 2 }, ledServices: 3 },
    });
    expect(quiet).to.include(
      [
        "       ! services.yaml:12: spec.type is no string",
        "",
        "WRITES   PENDING  WRITTEN  FAILED  DROPPED  LAST ERROR",
        "objects  0        12       0       -        -",
        "events   0        5        0       2        -",
        "",
        "MEMBER ",
      ].join("\n"),
    );
    const refused = "may not create events in every namespace";
    const hindered = formatStatus({
      ...STATUS,
      writtenBack: {
        objects: { ...writes, isApiAway: true, lastError: "ECONNREFUSED", lastErrorAt: "2026-01-01T11:58:30.000Z" },
        events: { ...writes, dropped: 0, missingRights: [refused] },
        ledServices: 3,
        droppedFields: ["spec.interfaces of L2Advertisement"],
      },
    });
    expect(hindered).to.include(
      [
        "objects  0        12       0       -        ECONNREFUSED (1m30s ago)",
        "events   0        12       0       0        -",
        "! the API server takes no writes",
        `! ${refused}`,
        "! the installed CRDs drop spec.interfaces of L2Advertisement",
        "",
      ].join("\n"),
    );
  });

  for (const { name, keys, line } of [
    { name: "one key", keys: { sendsWith: "current", accepts: [{ key: "current" }] }, line: undefined },
    {
      name: "a key that was exchanged a while ago",
      keys: { sendsWith: "current", accepts: [{ key: "current" }, { key: "previous" }] },
      line: "sends with the current key, understands the previous one, too",
    },
    {
      name: "a key that was exchanged just now",
      keys: {
        sendsWith: "previous",
        accepts: [{ key: "previous" }, { key: "current" }],
        switchAt: "2026-01-01T12:02:30.000Z",
        switchesWhenHeard: false,
      },
      line: "sends with the previous key, understands the current one, too; with the current one in 2m30s",
    },
    {
      name: "a node that started meanwhile, and a key that has left the files",
      keys: {
        sendsWith: "previous",
        accepts: [{ key: "previous" }, { key: "current" }, { key: "former", until: "2026-01-01T12:05:00.000Z" }],
        switchAt: "2026-01-01T12:02:30.000Z",
        switchesWhenHeard: true,
      },
      line: "sends with the previous key, understands the current one and the former one for 5m0s more, too; with the current one in 2m30s, or as soon as another node does",
    },
  ] as const) {
    it(`says of ${name} ${line === undefined ? "nothing" : "which is sent with"}`, () => {
      const gossip = { isOn: true, detection: "gossip", isEncrypted: true, endpoint: "192.0.2.11:7946", keys } as const;
      const expected = line === undefined ? "" : `         ${line}\n`;
      expect(formatStatus({ ...STATUS, gossip })).to.include(`gossip   192.0.2.11:7946, encrypted\n${expected}\n`);
    });
  }

  it("lets no member's name steer the terminal", () => {
    const [member] = STATUS.members;
    if (member === undefined) expect.fail("no example");
    const text = formatStatus({ ...STATUS, members: [{ ...member, name: "n\u001b[2J\r\u202e" }] });
    expect(text).to.include("\nn?[2J??");
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(text).to.not.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

describe("formatAddress", () => {
  it("prints the whole decision, aligned", () => {
    expect(formatAddress(ADDRESS)).to.equal(
      [
        "address  2001:db8::100",
        "leader   n1 for 3m4s, before that n2",
        "reason   best-tier: the other candidates are in a worse tier",
        "rule     arpeggio-1",
        "group    192.0.2.100: 192.0.2.100, 2001:db8::100",
        "here     n1 is leading, 7 requests answered, last announced 2m59s ago",
        "links    eth0",
        "",
        "SERVICE      POLICY   ADVERTISEMENTS",
        "default/web  Cluster  lan",
        "default/old  -        no-address: the Service has no address",
        "",
        "RANK  NODE  TIER  SCORE  ENDPOINTS  HASH          NOTE",
        "1     n1    1     50     any        abababababab",
        "2     n2    3     0      any        cdcdcdcdcdcd  cordoned: the node is cordoned or about to be removed",
        "",
        "REFUSED  REASON",
        "n4       not-selected: no advertisement selects the node",
        "",
      ].join("\n"),
    );
  });

  for (const { sticky, says, leader = "n2", rule = "arpeggio-1" } of [
    {
      sticky: { isInForce: true, holder: "n2", term: 4, insteadOf: "n1" },
      says: "n2 keeps it: sticky since term 4, n1 would come first otherwise",
    },
    { sticky: { isInForce: true, holder: "n2", term: 4 }, says: "n2 holds it, term 4" },
    { sticky: { isInForce: true, term: 0 }, leader: "", says: "nobody has held it yet" },
    {
      sticky: { isInForce: true, holder: "n2", term: 4 },
      leader: "",
      says: "n2 held it last, in term 4",
    },
    {
      sticky: { isInForce: false, holder: "n2", term: 4 },
      rule: "metallb-1",
      says: "not in force under metallb-1",
    },
  ] as const) {
    it(`says of a sticky address: ${says}`, () => {
      const { leader: _, ...rest } = ADDRESS;
      const text = formatAddress({ ...rest, ...(leader === "" ? {} : { leader }), rule, sticky });
      expect(text).to.contain(`\nsticky   ${says}\n`);
    });
  }

  it("has a sentence of its own for every reason", () => {
    const texts = [...new Set([...ADDRESS_REASONS, ...TIER_REASONS])].map(reasonText);
    expect(new Set(texts).size).to.equal(texts.length);
  });
});

describe("formatTable", () => {
  it("aligns every column, whatever the cells", () => {
    const cell = fc.stringMatching(/^[a-z0-9:.]{1,12}$/);
    const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(rows, (cells) => {
        const lines = formatTable(["A", "B", "C"], cells).trimEnd().split("\n");
        const starts = lines.map((line) => [...line.matchAll(/\S+/g)].map((match) => match.index).join(" "));
        expect(new Set(starts).size).to.equal(1);
      }),
    );
  });
});

describe("formatAge", () => {
  for (const [since, age] of [
    ["2026-01-01T12:00:00.000Z", "0s"],
    ["2026-01-01T12:00:05.000Z", "0s"],
    ["2026-01-01T11:59:00.001Z", "59s"],
    ["2026-01-01T11:59:00.000Z", "1m0s"],
    ["2026-01-01T11:00:01.000Z", "59m59s"],
    ["2025-12-31T12:00:01.000Z", "23h59m"],
    ["2025-12-31T12:00:00.000Z", "1d0h"],
  ] as const) {
    it(`from ${since} is ${age}`, () => expect(formatAge(since, AT)).to.equal(age));
  }
});
