/** docs/signals.md, from the table in api/signals.ts. Pure. */
import { SIGNALS } from "../api/signals.ts";

export function formatSignals(): string {
  const rows = SIGNALS.map(({ signal, effect, withinSeconds }) => [
    signal,
    effect,
    withinSeconds === undefined ? "" : `${withinSeconds} s`,
  ]);
  const lines = [["signal", "effect", "within"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const [head = "", ...others] = lines.map(
    (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  return [
    "# What moves an address",
    "",
    "<!-- Generated from api/signals.ts: node hack/readme.ts signals -->",
    "",
    "Of several candidates the lowest tier wins, then the highest score of `preferredNodeSelectors`, then (under policy Local) a ready",
    "endpoint before a terminating one and that before one ready for less than 2 s, then the lowest SHA-256 of `node#address`.",
    "`curl 127.0.0.1:17472/status/addresses/ADDRESS` and `arpeggio why ADDRESS` show all of it. A planned move loses nothing: the old leader answers until it has heard the new one.",
    "",
    head,
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...others,
    "",
  ].join("\n");
}
