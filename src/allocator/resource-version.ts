/** Order of versions of one object. Kubernetes' resourceVersions are decimal numbers of up to 64 bits, and comparable as such. Pure. */

/** Whether `a` is the same as `b` or certainly before it. Of texts that are no numbers what comes later counts. */
export function isNotNewer(a: string, b: string): boolean {
  if (a === b) return a !== "";
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) < BigInt(b);
}
