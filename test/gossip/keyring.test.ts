import { expect } from "chai";
import { hexOf } from "../../src/base/bytes.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { openDatagram, sealDatagram } from "../../src/gossip/datagram.ts";
import { deriveKey, Keyring } from "../../src/gossip/keyring.ts";
import { hex } from "./recorded.ts";

const key = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe("deriveKey", () => {
  it("appends the digest of nothing to a short secret, as MetalLB does", () =>
    // The secret of the recorded exchanges in MetalLB's settings.
    expect(hexOf(deriveKey(text("bWV0YWxsYmRlbW9zZWNyZQ")))).to.equal(
      `${hexOf(text("bWV0YWxsYmRlbW9zZWNyZQ"))}e3b0c44298fc1c149afb`,
    ));
  it("cuts a long secret to 32 bytes", () => expect(deriveKey(key(7, 40))).to.deep.equal(key(7)));
  it("counts the line break at the end of the file", () =>
    expect(deriveKey(text("a\n"))).to.deep.equal(
      hex("610ae3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852"),
    ));
});

describe("Keyring", () => {
  it("keeps its keys in order, the primary first, each once", () => {
    const ring = new Keyring(key(1), [key(2), key(1)]);
    ring.add(key(2));
    expect(ring.keys).to.deep.equal([key(1), key(2)]);
    ring.use(key(2));
    expect(ring.primary).to.deep.equal(key(2));
    expect(ring.keys).to.deep.equal([key(2), key(1)]);
    ring.remove(key(1));
    expect(ring.keys).to.deep.equal([key(2)]);
  });
  it("does not change with the array that a key came in", () => {
    const mine = key(1);
    const ring = new Keyring(mine);
    mine.fill(9);
    expect(ring.primary).to.deep.equal(key(1));
  });
  for (const { name, act } of [
    { name: "a key of 20 bytes", act: (ring: Keyring) => ring.add(key(3, 20)) },
    { name: "the use of a key that is not there", act: (ring: Keyring) => ring.use(key(3)) },
    { name: "the removal of the primary", act: (ring: Keyring) => ring.remove(key(1)) },
  ]) {
    it(`refuses ${name}`, () =>
      expect(() => act(new Keyring(key(1))))
        .to.throw()
        .with.property("code", "ERR_INTERNAL_ARGUMENT"));
  }
});

describe("a keyring that is listened to", () => {
  const random = new SeededRandom(1);
  const sealed = (by: Uint8Array) =>
    sealDatagram([Uint8Array.of(11, 0)], {
      keyring: new Keyring(by),
      label: "",
      compressFromBytes: Number.POSITIVE_INFINITY,
      withCrc: false,
      random,
    });

  it("tells which other key than the primary has opened something", () => {
    const heard: number[] = [];
    const keyring = new Keyring(key(1), [key(2), key(3)], (other) => void heard.push(other[0] ?? 0));
    const options = { keyring, label: "", verifyIncoming: true, maxDecompressedBytes: 1_000 };
    for (const by of [1, 2, 1, 3, 4]) openDatagram(sealed(key(by)), options);
    expect(heard).to.deep.equal([2, 3]);
  });
});
