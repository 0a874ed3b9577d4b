/** Times as Kubernetes writes them. Pure. */

/** RFC 3339 in UTC, to the second. */
export function secondsText(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
