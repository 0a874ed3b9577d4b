/** One line of a watch. Pure; strangers' bytes never throw. */
import { type Decoded, decoded, dropped } from "../../base/decoded.ts";
import { fieldOf } from "../../desired/resource-readers.ts";
import type { ParseJson } from "./list-reader.ts";
import { type Refusal, readRefusal } from "./refusal.ts";

export type WatchEvent =
  /** ADDED or MODIFIED: which of the two depends on what the reader knew. */
  | { readonly kind: "changed"; readonly object: unknown; readonly resourceVersion: string }
  | { readonly kind: "deleted"; readonly object: unknown; readonly resourceVersion: string }
  | { readonly kind: "bookmark"; readonly resourceVersion: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** `parse`: throws for what is no JSON. */
export function parseWatchLine(
  line: string,
  parse: ParseJson = JSON.parse,
): Decoded<WatchEvent, "not-json" | "not-an-event"> {
  const event = parsedJson(line, parse);
  if (event === undefined) return dropped("not-json");
  const type = fieldOf(event, "type");
  const object = fieldOf(event, "object");
  if (type === "ERROR") return decoded({ kind: "refused", refusal: readRefusal(0, object) });
  const resourceVersion = fieldOf(fieldOf(object, "metadata"), "resourceVersion");
  if (typeof resourceVersion !== "string" || resourceVersion === "") return dropped("not-an-event");
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return decoded({ kind: "changed", object, resourceVersion });
    case "DELETED":
      return decoded({ kind: "deleted", object, resourceVersion });
    case "BOOKMARK":
      return decoded({ kind: "bookmark", resourceVersion });
    default:
      return dropped("not-an-event");
  }
}

function parsedJson(text: string, parse: ParseJson): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
