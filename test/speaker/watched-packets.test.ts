import { expect } from "chai";
import { WatchedPackets } from "../../speaker/watched-packets.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const [A, B, C] = [ip("192.0.2.10"), ip("192.0.2.11"), ip("192.0.2.12")] as const;

function packets(): { readonly watched: WatchedPackets; readonly filters: string[] } {
  const filters: string[] = [];
  const watched = new WatchedPackets({
    setLinks: () => {},
    failedLinks: () => new Set(),
    setFilter: (linkIndex, addresses) => filters.push(`${linkIndex}: ${[...addresses].join(" ")}`),
    send: () => {},
    flush: () => {},
    discardAll: () => 0,
    drainAll: () => {},
  });
  return { watched, filters };
}

describe("WatchedPackets", () => {
  it("lets through what the announcer wants and what is watched, each once, whichever came first", () => {
    const { watched, filters } = packets();
    watched.setFilter(2, new Set([A, B]), [], [A, B]);
    watched.watch(2, [B, C]);
    expect(filters).to.deep.equal([`2: ${A} ${B}`, `2: ${A} ${B} ${C}`]);
    watched.setFilter(2, new Set([A]), [], []);
    expect(filters.at(-1)).to.equal(`2: ${A} ${B} ${C}`);
  });

  it("leaves the filter alone when the same is watched, in whatever order", () => {
    const { watched, filters } = packets();
    watched.watch(2, [A, B]);
    watched.watch(2, [B, A]);
    expect(filters).to.have.length(1);
  });

  it("lets the announcer's alone through again when nothing is watched any more, and keeps links apart", () => {
    const { watched, filters } = packets();
    watched.setFilter(2, new Set([A]), [], [A]);
    watched.watch(3, [C]);
    watched.watch(2, [B]);
    watched.watch(2, []);
    expect(filters).to.deep.equal([`2: ${A}`, `3: ${C}`, `2: ${A} ${B}`, `2: ${A}`]);
  });
});
