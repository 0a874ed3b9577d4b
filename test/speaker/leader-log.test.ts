import { expect } from "chai";
import { LeaderLog } from "../../speaker/leader-log.ts";
import type { LeaderChange } from "../../speaker/leadership.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { ipOfBigInt } from "../../src/net/ip.ts";

function changesTo(node: string, count: number): LeaderChange[] {
  return Array.from({ length: count }, (_, index) => ({
    ip: ipOfBigInt(0xc000_0200n + BigInt(index), 4),
    to: node,
    reason: "lowest-hash" as const,
  }));
}

function logged(report: (log: LeaderLog) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const clock = new VirtualClock();
  const log = createLog(
    "info",
    (line) => void lines.push(line),
    () => clock.wallMs(),
  );
  report(new LeaderLog(log, clock, "node-a"));
  clock.advance(5_000);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("LeaderLog", () => {
  it("writes one line for each address this node takes", () => {
    const lines = logged((log) => log.report(changesTo("node-a", 2)));
    expect(
      lines.map(({ msg, address, leader, previousLeader }) => [msg, address, leader, previousLeader]),
    ).to.deep.equal([
      ["leader changed", "192.0.2.0", "node-a", "nobody"],
      ["leader changed", "192.0.2.1", "node-a", "nobody"],
    ]);
  });

  it("leaves what others take to the others", () => {
    expect(logged((log) => log.report(changesTo("node-b", 3)))).to.deep.equal([]);
  });

  it("sums up what exceeds twenty lines in a second", () => {
    const lines = logged((log) => log.report(changesTo("node-a", 100)));
    expect(lines.length).to.equal(21);
    expect(lines.at(-1)).to.deep.include({ msg: "leaders changed", addresses: 80 });
  });
});
