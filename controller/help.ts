/** The options as a person reads them. Pure. */
import { VERSION } from "../src/base/version.ts";
import { formatRows } from "../src/options/help-text.ts";
import { OPTIONS } from "./options-table.ts";

export function formatVersion(): string {
  return `arpeggio controller ${VERSION}, node ${process.versions.node}\n`;
}

export function formatHelp(): string {
  return [
    `arpeggio controller ${VERSION}`,
    "Gives every Service of type LoadBalancer an address of an IPAddressPool.",
    "",
    "usage: arpeggio-controller --source=kubernetes [option]…",
    "       arpeggio-controller --source=files:DIR [option]…",
    "",
    ...formatRows(OPTIONS.rows),
  ].join("\n");
}
