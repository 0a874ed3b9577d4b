import { expect } from "chai";
import { HolderSpread, TOLD_OFFSETS_MS } from "../../speaker/holder-spread.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const [ONE, OTHER] = [ip("192.0.2.1"), ip("192.0.2.2")];
const MANY = Array.from({ length: 1_000 }, (_, index) => ip(`10.0.${index >> 8}.${index & 255}`));

describe("HolderSpread", () => {
  it("says what was written down to everybody, five times within four seconds, then nothing", () => {
    const spread = new HolderSpread();
    spread.tell([ONE], 1_000);
    const saidMs: number[] = [];
    for (let nowMs = 1_000; nowMs < 20_000; nowMs += 50) {
      const told = spread.due(nowMs, ["n2", "n3"]);
      if (told.length > 0) saidMs.push(nowMs - 1_000);
      for (const one of told) expect(one).to.deep.equal({ to: ["n2", "n3"], addresses: [ONE] });
    }
    expect(saidMs).to.deep.equal(TOLD_OFFSETS_MS);
    expect(spread.deadlineMs).to.equal(undefined);
  });

  it("says it to who is there when it is said", () => {
    const spread = new HolderSpread();
    spread.tell([ONE], 0);
    spread.due(0, ["n2"]);
    expect(spread.due(100, ["n2", "n3"])).to.deep.equal([{ to: ["n2", "n3"], addresses: [ONE] }]);
  });

  it("says each thing at its own time", () => {
    const spread = new HolderSpread();
    spread.tell([ONE], 0);
    spread.due(0, ["n2"]);
    spread.tell([OTHER], 50);
    expect(spread.deadlineMs).to.equal(50);
    expect(spread.due(99, ["n2"]).map(({ addresses }) => addresses)).to.deep.equal([[OTHER]]);
  });

  it("says thousands to a hundred nodes a few datagrams in a turn, all of them in the end", () => {
    const spread = new HolderSpread();
    const nodes = Array.from({ length: 100 }, (_, index) => `n${index}`);
    spread.tell(MANY, 0);
    const told = new Set<Ip>();
    let turns = 0;
    while (spread.deadlineMs === 0) {
      const now = spread.due(0, nodes);
      expect(now.reduce((sum, { to }) => sum + to.length, 0)).to.be.at.most(100);
      for (const { addresses } of now) for (const address of addresses) told.add(address);
      turns++;
    }
    expect(told.size).to.equal(MANY.length);
    expect(turns).to.equal(7);
  });
});
