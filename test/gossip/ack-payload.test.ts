import { expect } from "chai";
import { hexOf } from "../../src/base/bytes.ts";
import { decodeHeldAs, encodeHeldAs } from "../../src/gossip/ack-payload.ts";
import { atOffset, hex } from "./recorded.ts";

describe("ack payload", () => {
  for (const { bytes, state, incarnation } of [
    { bytes: "010000000001", state: "alive", incarnation: 1 },
    { bytes: "010100000100", state: "suspect", incarnation: 256 },
    { bytes: "0102ffffffff", state: "dead", incarnation: 4_294_967_295 },
    { bytes: "010300010000", state: "left", incarnation: 65_536 },
    { bytes: "010400000000", state: "unknown", incarnation: 0 },
  ] as const) {
    it(`writes ${state} as ${bytes} and reads it back`, () => {
      expect(hexOf(encodeHeldAs({ state, incarnation }))).to.equal(bytes);
      expect(decodeHeldAs(atOffset(hex(bytes)))).to.deep.equal({ state, incarnation });
    });
  }

  it("ignores what a later version may add", () =>
    expect(decodeHeldAs(hex("010000000001ff"))).to.deep.equal({ state: "alive", incarnation: 1 }));

  for (const { name, bytes } of [
    { name: "nothing, as Go members send", bytes: "" },
    { name: "another format", bytes: "020000000001" },
    { name: "a state that nobody knows", bytes: "010500000001" },
    { name: "fewer bytes", bytes: "0100000000" },
    { name: "another program's text", bytes: "68656c6c6f21" },
  ]) {
    it(`takes ${name} for no payload of ours`, () => expect(decodeHeldAs(hex(bytes))).to.equal(undefined));
  }
});
