/** What advertisements ask for the addresses that they advertise, beside who may lead them. Pure. */
import type { AddressGroup } from "./group.ts";

export interface AddressPolicy {
  /** Who leads keeps it as long as nobody is in a better tier. */
  readonly isSticky: boolean;
  /** Nobody answers rather than two. */
  readonly isStrict: boolean;
}

/** Of several advertisements of a group one that asks is enough: its addresses have one leader, and one rule for it. */
export function policyOf({ services }: AddressGroup): AddressPolicy {
  return {
    isSticky: services.some(({ advertisements }) => advertisements.some(({ isSticky }) => isSticky === true)),
    isStrict: services.some(({ advertisements }) => advertisements.some(({ isStrict }) => isStrict === true)),
  };
}
