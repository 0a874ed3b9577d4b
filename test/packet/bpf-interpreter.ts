/** A classic BPF machine (linux/filter.h; the kernel's networking/filter.rst), as far as our filters use it. */
import type { BpfInstruction } from "../../src/packet/filter.ts";

export interface Run {
  /** What the program returns: bytes of the frame to pass, 0 to drop it. */
  readonly passedBytes: number;
  /** Instructions executed. */
  readonly steps: number;
}

/** What the kernel knows of a frame beside its bytes. */
export interface FrameKnowledge {
  /** The 802.1Q tag that was stripped from the frame. */
  readonly vlanTag?: number;
  /** PACKET_* of linux/if_packet.h; 1 is broadcast, 3 is for another host. */
  readonly packetType?: number;
}

export function runFilter(program: readonly BpfInstruction[], frame: Uint8Array, knowledge: FrameKnowledge = {}): Run {
  let accumulator = 0;
  let steps = 0;
  for (let at = 0; ; ) {
    const instruction = program[at];
    if (instruction === undefined) throw new Error(`jumped out of the program, to ${at}`);
    const { code, jt, jf, k } = instruction;
    steps++;
    at++;
    switch (code) {
      case 0x06:
        return { passedBytes: k, steps };
      case 0x05:
        at += k;
        break;
      case 0x15:
        at += accumulator === k ? jt : jf;
        break;
      case 0x25:
        at += accumulator > k ? jt : jf;
        break;
      case 0x35:
        at += accumulator >= k ? jt : jf;
        break;
      case 0x45:
        at += (accumulator & k) === 0 ? jf : jt;
        break;
      case 0x20:
      case 0x28:
      case 0x30: {
        const loaded = load(frame, code, k, knowledge);
        // A load beyond the frame ends the program, and the frame is dropped.
        if (loaded === undefined) return { passedBytes: 0, steps };
        accumulator = loaded;
        break;
      }
      default:
        throw new Error(`unknown instruction ${code.toString(16)}`);
    }
  }
}

function load(frame: Uint8Array, code: number, k: number, knowledge: FrameKnowledge): number | undefined {
  const SKF_AD_OFF = 0xffff_f000;
  if (k === SKF_AD_OFF + 4) return knowledge.packetType ?? 1;
  if (k === SKF_AD_OFF + 44) return knowledge.vlanTag ?? 0;
  if (k === SKF_AD_OFF + 48) return knowledge.vlanTag === undefined ? 0 : 1;
  const size = code === 0x20 ? 4 : code === 0x28 ? 2 : 1;
  if (k + size > frame.length) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  if (size === 4) return view.getUint32(k);
  return size === 2 ? view.getUint16(k) : view.getUint8(k);
}
