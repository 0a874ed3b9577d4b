/** Whether two Services may have one address: the same key, the same traffic policy class, no port in common. Pure. */
import { SERVICE_ANNOTATIONS } from "../../api/annotations.ts";
import { compareText } from "../desired/text-order.ts";
import type { AllocatorService } from "./service.ts";

/** What of a Service decides with whom it may share. */
export interface Sharing {
  /** Empty: with nobody. */
  readonly key: string;
  /** `Cluster`, or `Local` with the selector: under Local the same pods must answer. */
  readonly policy: string;
  readonly ports: readonly string[];
}

/** Why two Services may not share an address. */
export type Clash =
  | { readonly kind: "no-key" }
  | { readonly kind: "keys-differ" }
  | { readonly kind: "policies-differ" }
  | { readonly kind: "port-in-use"; readonly port: string };

/** The newer key wins by its presence, even if it is empty. */
export function sharingOf({ annotations, externalTrafficPolicy, selector, ports }: AllocatorService): Sharing {
  const { allowSharedIp, legacyAllowSharedIp } = SERVICE_ANNOTATIONS;
  const key = annotations[allowSharedIp] ?? annotations[legacyAllowSharedIp] ?? "";
  return { key, policy: externalTrafficPolicy === "Local" ? `Local ${selectorText(selector)}` : "Cluster", ports };
}

/** Undefined when they may. Symmetric but for the port that is named, which is the first of `own`. */
export function clashOf(own: Sharing, other: Sharing): Clash | undefined {
  if (own.key === "" || other.key === "") return { kind: "no-key" };
  if (own.key !== other.key) return { kind: "keys-differ" };
  if (own.policy !== other.policy) return { kind: "policies-differ" };
  const port = own.ports.find((wanted) => other.ports.includes(wanted));
  return port === undefined ? undefined : { kind: "port-in-use", port };
}

/** Text that is equal for Services that agree on key and policy; undefined for one that shares with nobody. */
export function sharingGroup({ key, policy }: Sharing): string | undefined {
  return key === "" ? undefined : JSON.stringify([key, policy]);
}

export function isSameSharing(a: Sharing, b: Sharing): boolean {
  return a.key === b.key && a.policy === b.policy && a.ports.join() === b.ports.join();
}

function selectorText(selector: AllocatorService["selector"]): string {
  const pairs = Object.entries(selector).toSorted(([a], [b]) => compareText(a, b));
  return JSON.stringify(pairs);
}
