/** The options as a person reads them. Pure. */
import { VERSION } from "../src/base/version.ts";
import { formatRows } from "../src/options/help-text.ts";
import { OPTION_TABLE } from "./options-table.ts";

export function formatVersion(): string {
  return `arpeggio speaker ${VERSION}, node ${process.versions.node}\n`;
}

export function formatHelp(): string {
  return [
    `arpeggio speaker ${VERSION}`,
    "Answers ARP and Neighbor Discovery for the addresses that this node leads.",
    "",
    "usage: speaker --source=files:DIR [--peers=HOST,…] [option]…",
    "       speaker --source=kubernetes [option]…",
    "",
    ...formatRows(OPTION_TABLE),
  ].join("\n");
}
