import { expect } from "chai";
import { concatBytes, hexOf } from "../../src/base/bytes.ts";
import { sealPayload } from "../../src/gossip/encryption.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import { encodeStreamMessage } from "../../src/gossip/message-codec.ts";
import { StreamDecoder, sealStream } from "../../src/gossip/stream.ts";
import {
  atOffset,
  bareLayers,
  encryptionOf,
  hex,
  innerLayer,
  nonceOf,
  outermostMessage,
  RECORDINGS,
  type Side,
  streamMessageOf,
} from "./recorded.ts";

/** A signed field over 127 as go-msgpack 0.5.5 writes it, and as 2.x and we do. */
const OLD_STATE_LENGTH = "ac5573657253746174654c656eccc8";
const NEW_STATE_LENGTH = "ac5573657253746174654c656ed100c8";

const SIDES = RECORDINGS.filter(({ transport }) => transport === "tcp").flatMap((recording) => {
  const { id, dialerSends, acceptorSends } = recording;
  const label = recording.label ?? "";
  return [
    ...(dialerSends === undefined ? [] : [{ name: `${id}, dialer`, side: dialerSends, label, isDialer: true }]),
    ...(acceptorSends === undefined ? [] : [{ name: `${id}, acceptor`, side: acceptorSends, label, isDialer: false }]),
  ];
});

function keysOf(side: Side): { readonly keyring?: Keyring } {
  const key = encryptionOf(side.layers)?.key;
  return key === undefined ? {} : { keyring: new Keyring(hex(key)) };
}

function messageOf(side: Side) {
  const [bare] = bareLayers(outermostMessage(side.layers));
  return streamMessageOf(bare ?? expect.fail("no message"));
}

function decoderOf(side: Side, label: string, isDialer: boolean): StreamDecoder {
  return new StreamDecoder({
    ...keysOf(side),
    label,
    verifyIncoming: true,
    maxDecompressedBytes: 2 ** 20,
    // The reader is the other side.
    isDialer: !isDialer,
  });
}

describe("recorded streams", () => {
  it("are all there", () => expect(SIDES).to.have.length(34));

  for (const { name, side, label, isDialer } of SIDES) {
    it(`${name}, opens to the recorded fields in one piece, at any offset`, () => {
      const step = decoderOf(side, label, isDialer).push(atOffset(hex(side.hex)));
      expect(step).to.deep.equal({ kind: "message", message: messageOf(side) });
    });

    it(`${name}, opens byte by byte, with the last byte and not before`, () => {
      const decoder = decoderOf(side, label, isDialer);
      const steps = [...hex(side.hex)].map((byte) => decoder.push(Uint8Array.of(byte)));
      expect(steps.slice(0, -1).map(({ kind }) => kind)).to.deep.equal(steps.slice(1).map(() => "need-more"));
      expect(steps.at(-1)).to.deep.equal({ kind: "message", message: messageOf(side) });
    });

    it(`${name}, is sealed again to the same bytes`, () => {
      const encryption = encryptionOf(side.layers);
      const compress = innerLayer(outermostMessage(side.layers), "compress") !== undefined;
      const options = { ...keysOf(side), label, compress, random: nonceOf(side.layers) };
      const writes = sealStream(messageOf(side), options, { isDialer });
      if (encryption?.version === 0) {
        const frame = hex(encryption.aad ?? "").subarray(0, 5);
        const plain = encodeStreamMessage(messageOf(side));
        const payload = sealPayload(
          plain,
          hex(encryption.key ?? ""),
          hex(encryption.nonce ?? ""),
          hex(encryption.aad ?? ""),
          0,
        );
        expect(hexOf(concatBytes([frame, payload]))).to.equal(side.hex);
        return;
      }
      expect(hexOf(concatBytes(writes))).to.equal(side.hex.replace(OLD_STATE_LENGTH, NEW_STATE_LENGTH));
      if (side.writes !== undefined) expect(writes.map(({ length }) => length)).to.deep.equal(side.writes);
    });
  }
});
