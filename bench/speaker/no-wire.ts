/** Where a measured speaker's frames go: nowhere. Its packet filters are built as for a socket, because that takes time. */
import type { SpeakerPorts } from "../../speaker/speaker-ports.ts";
import { encodeFilter, MAX_FILTER_INSTRUCTIONS } from "../../src/packet/filter.ts";
import { FilterInForce } from "../../src/packet/filter-in-force.ts";

export function portsWithoutWire(): Pick<SpeakerPorts, "packets" | "groups"> {
  const filters = [[4, new FilterInForce()] as const, [6, new FilterInForce()] as const];
  return {
    packets: {
      setLinks: () => undefined,
      failedLinks: () => new Set(),
      setFilter: (_, addresses, poolPrefixes, come) => {
        for (const [family, filter] of filters) {
          const next = filter.next({ family, addresses, poolPrefixes, come }, MAX_FILTER_INSTRUCTIONS);
          if (next !== undefined) encodeFilter(next.program);
        }
      },
      send: () => undefined,
      flush: () => undefined,
      discardAll: () => 0,
      drainAll: () => undefined,
    },
    groups: { join: () => undefined, leave: () => undefined },
  };
}
