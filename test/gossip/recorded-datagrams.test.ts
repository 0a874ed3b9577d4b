import { expect } from "chai";
import { concatBytes, hexOf } from "../../src/base/bytes.ts";
import { type OpenDatagramOptions, openDatagram, sealDatagram } from "../../src/gossip/datagram.ts";
import { sealPayload } from "../../src/gossip/encryption.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import { encodeLabelHeader } from "../../src/gossip/label.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import {
  atOffset,
  bareLayers,
  datagramMessageOf,
  encryptionOf,
  hex,
  innerLayer,
  nonceOf,
  outermostMessage,
  RECORDINGS,
  type Recording,
} from "./recorded.ts";

const DATAGRAMS = RECORDINGS.filter(({ transport }) => transport === "udp");

function keysOf({ layers }: Recording): { readonly keyring?: Keyring } {
  const key = encryptionOf(layers)?.key;
  return key === undefined ? {} : { keyring: new Keyring(hex(key)) };
}

function openOptions(recording: Recording): OpenDatagramOptions {
  return { ...keysOf(recording), label: recording.label ?? "", verifyIncoming: true, maxDecompressedBytes: 65_536 };
}

/** Seals the recorded messages again, with the recorded nonce. */
function sealed(recording: Recording): Uint8Array {
  const outermost = outermostMessage(recording.layers);
  const parts = bareLayers(outermost).map((layer) => encodeMessage(datagramMessageOf(layer)));
  const options = {
    compressFromBytes: innerLayer(outermost, "compress") === undefined ? Number.POSITIVE_INFINITY : 0,
    withCrc: outermost.name === "hasCrc",
    random: nonceOf(recording.layers),
    label: recording.label ?? "",
  };
  const encryption = encryptionOf(recording.layers);
  if (encryption?.version !== 0) return sealDatagram(parts, { ...options, ...keysOf(recording) });
  // We never send version 0, so its one sealing is made by hand.
  const plain = sealDatagram(parts, { ...options, label: "" });
  const payload = sealPayload(
    plain,
    hex(encryption.key ?? ""),
    hex(encryption.nonce ?? ""),
    hex(encryption.aad ?? ""),
    0,
  );
  return concatBytes([encodeLabelHeader(options.label), payload]);
}

describe("recorded datagrams", () => {
  it("are all there", () => expect(DATAGRAMS).to.have.length(35));

  for (const recording of DATAGRAMS) {
    const { id } = recording;
    it(`${id} opens to the recorded fields, at any offset`, () => {
      const messages = bareLayers(outermostMessage(recording.layers)).map(datagramMessageOf);
      const opened = openDatagram(atOffset(hex(recording.hex)), openOptions(recording));
      expect(opened.drops).to.deep.equal([]);
      expect(opened.messages).to.deep.equal(messages);
    });
    it(`${id} is sealed again to the same bytes`, () => expect(hexOf(sealed(recording))).to.equal(recording.hex));
  }
});
