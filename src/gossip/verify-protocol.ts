/** Whether two sides of a push/pull speak versions that all can (memberlist state.go:697-801). Pure. */
import type { NodeRecord, Versions } from "./message.ts";
import type { Member } from "./swim-event.ts";

/** What we say of ourselves, as MetalLB's speaker does: protocol 1 to 5, now 2, no delegate. */
export const OWN_VERSIONS: Versions = {
  protocolMin: 1,
  protocolMax: 5,
  protocolCurrent: 2,
  delegateMin: 0,
  delegateMax: 0,
  delegateCurrent: 0,
};

/** An alive message with other versions is ignored (state.go:953-961). */
export function areUsableVersions(versions: Versions): boolean {
  const { protocolMin, protocolMax } = versions;
  return protocolMin > 0 && protocolMax > 0 && protocolMin <= protocolMax;
}

/**
 * The alive ones of both sides fix the common range; everybody's current version, dead ones included, must lie in it.
 * A record without versions counts as current version 0.
 */
export function areCompatible(remote: readonly NodeRecord[], local: readonly Member[]): boolean {
  const everybody = [...remote, ...local];
  const alive = everybody.flatMap(({ state, versions }) =>
    state === "alive" && versions !== undefined ? [versions] : [],
  );
  const protocolMin = Math.max(0, ...alive.map((versions) => versions.protocolMin));
  const protocolMax = Math.min(255, ...alive.map((versions) => versions.protocolMax));
  const delegateMin = Math.max(0, ...alive.map((versions) => versions.delegateMin));
  const delegateMax = Math.min(255, ...alive.map((versions) => versions.delegateMax));
  return everybody.every(({ versions }) => {
    const protocol = versions?.protocolCurrent ?? 0;
    const delegate = versions?.delegateCurrent ?? 0;
    return protocol >= protocolMin && protocol <= protocolMax && delegate >= delegateMin && delegate <= delegateMax;
  });
}
