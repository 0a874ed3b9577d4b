import { expect } from "chai";
import { SeededRandom } from "../../src/base/random.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import { TIMING_PRESETS, type Timing } from "../../src/gossip/timing.ts";
import { bareLayers, datagramMessageOf, outermostMessage, recording } from "./recorded.ts";

const LAN = TIMING_PRESETS.lan;

const sealed = (timing: Timing, parts: readonly Uint8Array[]): Uint8Array =>
  createCodec({ label: "", timing, random: new SeededRandom(1) }).sealDatagram(parts, false);

/** The messages of a datagram that Go compressed. */
const partsOf = (id: string): readonly Uint8Array[] =>
  bareLayers(outermostMessage(recording(id).layers)).map((layer) => encodeMessage(datagramMessageOf(layer)));

describe("createCodec", () => {
  it("sends a ping of the longest names as it is, where Go spends its time on a few bytes", () => {
    const ping = partsOf("udp-compress-ping");
    expect(sealed(LAN, ping)).to.deep.equal(ping[0]);
  });

  it("compresses what is long enough to become shorter", () => {
    const news = partsOf("udp-enc16-crc-compress-compound");
    const many = [...news, ...news];
    expect(sealed(LAN, many)).to.have.length.below(sealed({ ...LAN, compresses: false }, many).length);
  });
});
