/** How new what the watches hold is, as one number to compare speakers by (DESIGN D9). Pure. */

/** As etcd writes a revision; whatever else stands in a resourceVersion orders nothing. */
const DECIMAL = /^[1-9][0-9]*$/;

/**
 * The smallest of the resourceVersions up to which each kind is known; 0, "not comparable", when one of them was never listed or is no
 * decimal number that a JavaScript number holds.
 */
export function freshnessOf(places: readonly (string | undefined)[]): number {
  const revisions = places.map((place) => (place !== undefined && DECIMAL.test(place) ? Number(place) : 0));
  return revisions.length > 0 && revisions.every((revision) => revision > 0 && Number.isSafeInteger(revision))
    ? Math.min(...revisions)
    : 0;
}
