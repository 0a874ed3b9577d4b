/** The options as a table in Markdown, padded as the formatter wants it. Pure. */
import { heading } from "./help-text.ts";
import type { OptionRow } from "./option-row.ts";

export function formatOptionsTable(table: readonly OptionRow[]): string {
  const rows = table
    .filter((row) => row.hasNoEffect !== true)
    .map((row) =>
      [
        code(heading(row)),
        row.variable === undefined ? "" : code(row.variable),
        row.byDefault ?? "",
        row.source === undefined ? row.text : `With \`--source=${row.source}\`: ${row.text}`,
      ].map((cell) => cell.replaceAll("|", "\\|")),
    );
  const lines = [["option", "variable", "default", "meaning"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const [head = "", ...others] = lines.map((cells) => tableLine(cells.map((cell, i) => cell.padEnd(widths[i] ?? 0))));
  const accepted = table.filter((row) => row.hasNoEffect === true).map((row) => code(`--${row.name}`));
  return [
    head,
    tableLine(widths.map((width) => "-".repeat(width))),
    ...others,
    "",
    `MetalLB's options ${accepted.join(", ")} are accepted, but have no effect.`,
    "",
  ].join("\n");
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
