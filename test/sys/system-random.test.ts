import { expect } from "chai";
import { hexOf } from "../../src/base/bytes.ts";
import { SystemRandom } from "../../src/sys/system-random.ts";

describe("SystemRandom", () => {
  it("gives no bytes twice, whatever lengths are asked for", () => {
    const random = new SystemRandom();
    const seen = new Set<string>();
    let drawn = 0;
    for (let round = 0; round < 300; round++) {
      for (const count of [8, 12, 16, 32, 4_096, 5_000]) {
        const bytes = random.bytes(count);
        expect(bytes).to.have.length(count);
        // Eight bytes at any place of the pool: the same twice among so few is no chance.
        for (let start = 0; start + 8 <= Math.min(count, 32); start += 8) {
          seen.add(hexOf(bytes.subarray(start, start + 8)));
          drawn++;
        }
      }
    }
    expect(seen.size).to.equal(drawn);
  });

  it("leaves what it gave alone", () => {
    const random = new SystemRandom();
    const first = random.bytes(12);
    const before = hexOf(first);
    for (let round = 0; round < 1_000; round++) random.bytes(12);
    expect(hexOf(first)).to.equal(before);
  });
});
