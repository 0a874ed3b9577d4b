/** `/status` checked and written some milliseconds at a time, for there may be thousands of addresses. */
import { type StatusDocument, StatusSchema } from "../../api/status.ts";
import { compileCheck } from "./document-check.ts";

/** Some milliseconds of them. */
const ADDRESSES_AT_ONCE = 500;

/** Gives nothing; throws as `compileCheck`. */
export function createStatusCheck(): (status: StatusDocument) => Generator<string, void, undefined> {
  const check = compileCheck("status", StatusSchema);
  return function* (status) {
    for (const addresses of slicesOf(status.addresses)) {
      check({ ...status, addresses });
      yield "";
    }
  };
}

export function* jsonParts({ addresses, ...head }: StatusDocument): Generator<string, void, undefined> {
  yield `${JSON.stringify(head).slice(0, -1)},"addresses":[`;
  let separator = "";
  for (const slice of slicesOf(addresses)) {
    if (slice.length === 0) continue;
    yield separator + JSON.stringify(slice).slice(1, -1);
    separator = ",";
  }
  yield "]}\n";
}

/** At least one, if only an empty one. */
function* slicesOf<Item>(items: readonly Item[]): Generator<readonly Item[], void, undefined> {
  for (let from = 0; from === 0 || from < items.length; from += ADDRESSES_AT_ONCE) {
    yield items.slice(from, from + ADDRESSES_AT_ONCE);
  }
}
