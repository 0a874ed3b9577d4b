import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { Link } from "../../src/net/link.ts";
import { formatPrefix } from "../../src/net/prefix.ts";
import { describeNetns, type NetnsChild } from "../support/netns.ts";
import { linkIndex } from "./link-index.ts";
import { whileBlocked } from "./while-blocked.ts";

const CHILD = resolve(import.meta.dirname, "sys-child.js");

interface LinksEvent {
  readonly kind: "links";
  readonly links: readonly Link[];
}

/** Waits until the links as last reported say so of the one with this name; undefined while there is none. */
async function untilLink(
  child: NetnsChild,
  name: string,
  isWanted: (link: Link | undefined) => boolean,
): Promise<Link> {
  for (;;) {
    const links = (await child.call("links")) as readonly Link[] | undefined;
    const link = links?.find((one) => one.name === name);
    if (links !== undefined && isWanted(link)) return link ?? links[0] ?? expect.fail("no links");
    await child.event<LinksEvent>(({ kind }) => kind === "links");
  }
}

function hasLinkLocal(link: Link | undefined): boolean {
  return link?.addresses.some((ip) => ip.startsWith("fe80:")) === true;
}

describeNetns("LinkWatcher on a real kernel", (lab) => {
  let near = "";
  let far = "";
  let child: NetnsChild;

  before(async () => {
    near = lab.create("near");
    far = lab.create("far");
    lab.veth(
      { namespace: near, link: "eth0", mac: "02:00:00:00:00:01", addresses: ["192.0.2.1/24", "2001:db8::1/64"] },
      { namespace: far, link: "eth0", mac: "02:00:00:00:00:02" },
    );
    child = lab.node(near, CHILD);
    await child.call("watch");
  });

  it("reports links with addresses and on-link prefixes, first when all of them are known", async () => {
    const link = await untilLink(child, "eth0", () => true);
    expect(link.mac).to.equal("02:00:00:00:00:01");
    expect(link.addresses).to.include.members(["192.0.2.1", "2001:db8::1"]);
    expect(link.prefixes.map(formatPrefix)).to.deep.equal(["192.0.2.0/24", "2001:db8::/64"]);
    expect(link.masterKind).to.equal("none");
  });

  it("reports the link-local address once it is assigned", async () => {
    await untilLink(child, "eth0", hasLinkLocal);
  });

  it("reports an address that is added, and its prefix", async () => {
    lab.ip(near, "address add 198.51.100.1/25 dev eth0");
    const link = await untilLink(child, "eth0", (seen) => seen?.prefixes.length === 3);
    expect(link.addresses).to.include("198.51.100.1");
    expect(link.prefixes.map(formatPrefix)).to.include("198.51.100.0/25");
  });

  it("reports a MAC that is changed", async () => {
    lab.ip(near, "link set eth0 address 02:00:00:00:00:77");
    await untilLink(child, "eth0", (link) => link?.mac === "02:00:00:00:00:77");
  });

  it("reports carrier that is lost and comes back, while the link stays up", async () => {
    lab.ip(far, "link set eth0 down");
    const link = await untilLink(child, "eth0", (seen) => seen?.hasCarrier === false);
    expect(link.isAdminUp).to.equal(true);
    lab.ip(far, "link set eth0 up");
    await untilLink(child, "eth0", (seen) => seen?.hasCarrier === true);
  });

  it("reports a link that joins and leaves a bridge", async () => {
    lab.bridge(near, "br0", ["eth0"]);
    await untilLink(child, "eth0", (link) => link?.masterKind === "other");
    lab.ip(near, "link set eth0 nomaster");
    await untilLink(child, "eth0", (link) => link?.masterKind === "none");
  });

  it("reports a link that is renamed under its index", async () => {
    const index = linkIndex(lab, near, "eth0");
    lab.ip(near, "link set eth0 name lan0");
    const link = await untilLink(child, "lan0", (seen) => seen !== undefined);
    expect(link.index).to.equal(index);
    lab.ip(near, "link set lan0 name eth0");
    await untilLink(child, "eth0", (seen) => seen !== undefined);
  });

  it("reports a link that is removed and put back", async () => {
    const before = linkIndex(lab, near, "eth0");
    lab.ip(near, "link delete eth0");
    await untilLink(child, "eth0", (link) => link === undefined);
    lab.veth({ namespace: near, link: "eth0", addresses: ["192.0.2.1/24"] }, { namespace: far, link: "eth0" });
    const link = await untilLink(child, "eth0", (seen) => seen?.hasCarrier === true && seen.prefixes.length === 1);
    expect(link.index).not.to.equal(before);
  });

  it("is silent when nothing that it reports has changed", async () => {
    // The last news of the new link is its link-local address, a second after the others.
    await untilLink(child, "eth0", hasLinkLocal);
    child.forget();
    lab.ip(near, "link set eth0 mtu 1400");
    lab.ip(near, "route add 203.0.113.0/24 via 192.0.2.9");
    lab.ip(near, "address add 192.0.2.77/24 dev eth0");
    const { links } = await child.event<LinksEvent>((event) => event.kind === "links");
    expect(links.find((link) => link.name === "eth0")?.addresses).to.include("192.0.2.77");
  });

  it("lists everything again after an overrun, and knows every address then", async () => {
    const flooded = lab.node(near, CHILD);
    await flooded.call("watch", 4_096);
    await untilLink(flooded, "eth0", (link) => link !== undefined);
    const addresses = Array.from({ length: 2_000 }, (_, index) => `10.9.${index >> 8}.${index & 255}`);
    const commands = addresses.map((address) => `address add ${address}/32 dev eth0`);
    await whileBlocked(flooded, () => lab.feed(near, commands.join("\n"), "ip", "-batch", "-"));
    const link = await untilLink(flooded, "eth0", (seen) => (seen?.addresses.length ?? 0) >= addresses.length);
    expect(link.addresses).to.include.members(addresses);
    expect(await flooded.call("overruns"))
      .to.be.a("number")
      .that.is.at.least(1);
    // Notifications go on afterwards.
    lab.ip(near, "link set eth0 address 02:00:00:00:00:88");
    await untilLink(flooded, "eth0", (seen) => seen?.mac === "02:00:00:00:00:88");
  });
});

describeNetns("MulticastGroups on a real kernel", (lab) => {
  const group = "ff02::1:ff00:50";
  let near = "";
  let far = "";
  let child: NetnsChild;

  before(() => {
    near = lab.create("near");
    far = lab.create("far");
    lab.veth({ namespace: near, link: "eth0" }, { namespace: far, link: "eth0" });
    child = lab.node(near, CHILD);
  });

  /** Groups of eth0 as the kernel lists them, in 32 hex digits. */
  function joined(): string[] {
    const lines = lab.exec(near, "cat", "/proc/net/igmp6").split("\n");
    return lines.filter((line) => line.includes(" eth0 ")).map((line) => line.trim().split(/\s+/)[2] ?? "");
  }

  it("joins a solicited-node group so that an MLD report goes out", async () => {
    const report = ["-i", "eth0", "-n", "-v", "-l", "ip6 dst ff02::16 and ip6[48] = 143"];
    const tcpdump = spawn("ip", ["netns", "exec", far, "tcpdump", ...report], { stdio: ["ignore", "pipe", "pipe"] });
    await once(tcpdump.stderr, "data");
    await child.call("join", linkIndex(lab, near, "eth0"), group);
    await child.call("join", linkIndex(lab, near, "eth0"), group);
    // Reports of the link's own groups may come before it.
    for await (const line of createInterface({ input: tcpdump.stdout })) if (line.includes(group)) break;
    tcpdump.kill();
    expect(joined()).to.include("ff0200000000000000000001ff000050");
  });

  it("leaves it when asked once, however often it was joined", async () => {
    await child.call("leave", linkIndex(lab, near, "eth0"), group);
    await child.call("leave", linkIndex(lab, near, "eth0"), group);
    expect(joined()).not.to.include("ff0200000000000000000001ff000050");
  });

  it("holds more groups than one socket can", async () => {
    const index = linkIndex(lab, near, "eth0");
    const groups = Array.from({ length: 1_000 }, (_, number) => `ff02::1:ff01:${number.toString(16)}`);
    for (const each of groups) await child.call("join", index, each);
    expect(joined().filter((each) => each.startsWith("ff0200000000000000000001ff01"))).to.have.length(1_000);
    expect(await child.call("groupProblems")).to.deep.equal([]);
    for (const each of groups) await child.call("leave", index, each);
    expect(joined().filter((each) => each.startsWith("ff0200000000000000000001ff01"))).to.have.length(0);
  });

  it("joins again on a link that was removed and put back under its old index", async () => {
    const index = linkIndex(lab, near, "eth0");
    await child.call("watch");
    await untilLink(child, "eth0", (link) => link !== undefined);
    await child.call("join", index, group);
    lab.ip(near, "link delete eth0");
    await untilLink(child, "eth0", (link) => link === undefined);
    lab.ip(near, `link add eth0 index ${index} type veth peer name eth0 netns ${far}`);
    lab.ip(near, "link set eth0 up");
    await untilLink(child, "eth0", (link) => link !== undefined);
    expect(joined()).to.include("ff0200000000000000000001ff000050");
    expect(await child.call("groupProblems")).to.deep.equal([]);
  });

  it("says which group of which link failed, and why", async () => {
    await child.call("join", 999, group);
    expect(await child.call("groupProblems")).to.deep.equal([{ linkIndex: 999, group, code: "ENODEV" }]);
    await child.call("leave", 999, group);
    expect(await child.call("groupProblems")).to.deep.equal([]);
  });
});
