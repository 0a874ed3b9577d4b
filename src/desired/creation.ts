/** Age of objects, by which the older one of two that dispute something stands. Pure. */

/** Kubernetes writes RFC 3339 in UTC; parsed, because a file may carry an offset or fractions. No time at all is the oldest: that file was there first. */
export function createdMsOf(createdAt: string): number {
  const parsed = createdAt === "" ? Number.NaN : Date.parse(createdAt);
  return Number.isNaN(parsed) ? Number.MIN_SAFE_INTEGER : parsed;
}
