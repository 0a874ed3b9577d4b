/** ARP and Neighbor Discovery on the switch, as tcpdump prints them, with the hosts' names in place of their MACs. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { inNamespace } from "./run-command.ts";
import { segmentHosts, type Topology } from "./topology.ts";

/** Router and neighbor messages and redirects are ICMPv6 types 133 to 137; the first octet after the IPv6 header is the type. */
const WANTED = "arp or (icmp6 and ip6[40] >= 133 and ip6[40] <= 137)";

/** Prints until the signal aborts. */
export async function traceSegment(
  topology: Topology,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  // tcpdump makes br0 promiscuous: a bridge shows its own device no frames between other ports otherwise.
  const tcpdump = ["tcpdump", "-i", "br0", "-n", "-e", "-l", "--immediate-mode", WANTED];
  const [command = "", ...argv] = inNamespace(topology.switchNamespace, tcpdump);
  const child = spawn(command, argv, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  signal.addEventListener("abort", () => child.kill("SIGTERM"));
  const nameMacs = macNamer(topology);
  for await (const line of createInterface({ input: child.stdout })) print(`${nameMacs(line)}\n`);
  await ended;
}

function macNamer(topology: Topology): (line: string) => string {
  const names = new Map<string, string>(segmentHosts(topology).map(({ mac, name }) => [mac, name]));
  names.set("ff:ff:ff:ff:ff:ff", "everybody");
  return (line) =>
    line
      .replace(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g, (mac) => names.get(mac) ?? mac)
      .replace(/, ethertype \S+ \(0x[0-9a-f]+\), length \d+:/, ":")
      .replace(/ \(oui [^)]*\)/g, "")
      .replace(/, length \d+$/, "");
}
