/** Speakers that send what would harm a Go member: each for a part of invariant 14. */
import type { StreamHandler, Transport } from "../../src/gossip/ports.ts";
import type { Mutant } from "./mutants.ts";

type Change = (bytes: Uint8Array) => Uint8Array;

const same: Change = (bytes) => bytes;

/** Puts `change` between the speaker and its sockets. */
function changing(transport: Transport, datagram: Change, stream: Change): Transport {
  return {
    local: transport.local,
    listen: (handler) => transport.listen(handler),
    sendDatagram: (to, bytes) => transport.sendDatagram(to, datagram(bytes)),
    dial: (to, handler: StreamHandler) => {
      const dialled = transport.dial(to, handler);
      const write = dialled.write.bind(dialled);
      dialled.write = (bytes) => write(stream(bytes));
      return dialled;
    },
    close: () => transport.close(),
  };
}

function mutant(name: string, datagram: Change, stream: Change): Mutant {
  return {
    name,
    invariant: 14,
    scenario: "crash",
    seed: 1,
    ports: (ports) => {
      const { gossip } = ports;
      if (gossip === undefined) return ports;
      return { ...ports, gossip: { ...gossip, transport: changing(gossip.transport, datagram, stream) } };
    },
  };
}

/** A compound with one more part, of no bytes. */
function withEmptyPart(bytes: Uint8Array): Uint8Array {
  const start = bytes[0] === 12 ? 5 : 0;
  const parts = bytes[start + 1] ?? 0;
  if (bytes[start] !== 7 || parts === 255) return bytes;
  const lengthsEnd = start + 2 + 2 * parts;
  return Buffer.concat([
    bytes.subarray(start, start + 1),
    Uint8Array.of(parts + 1),
    bytes.subarray(start + 2, lengthsEnd),
    Uint8Array.of(0, 0),
    bytes.subarray(lengthsEnd),
  ]);
}

/** Its versions are one byte short. */
function withFiveVersions(bytes: Uint8Array): Uint8Array {
  const changed = Buffer.from(bytes);
  const at = changed.indexOf("\xa3Vsn\xa6", 0, "latin1");
  if (at >= 0) changed[at + 4] = 0xa5;
  return changed;
}

export const MESSAGE_MUTANTS: readonly Mutant[] = [
  mutant("sends an empty part in a compound", withEmptyPart, same),
  mutant("pushes five bytes of versions", same, withFiveVersions),
];
