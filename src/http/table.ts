/** Aligned plain text for a terminal. Pure. */

/** Some milliseconds of them. */
const ROWS_AT_ONCE = 500;

/** Columns two spaces apart, each as wide as its widest cell, no spaces at the ends of lines. Empty without rows. */
export function formatTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [...formatTableParts(heads, rows, (cells) => cells)].join("");
}

/** The same of thousands of rows, in parts; some are empty, because no line can be written before all widths are known. */
export function* formatTableParts<Row>(
  heads: readonly string[],
  rows: readonly Row[],
  cellsOf: (row: Row) => readonly string[],
): Generator<string, void, undefined> {
  if (rows.length === 0) return;
  const lines = [heads.map(printable)];
  const widths = heads.map(({ length }) => length);
  for (const row of rows) {
    const cells = cellsOf(row).map(printable);
    for (const [column, { length }] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
    if (lines.push(cells) % ROWS_AT_ONCE === 0) yield "";
  }
  for (let from = 0; from < lines.length; from += ROWS_AT_ONCE) {
    yield lines
      .slice(from, from + ROWS_AT_ONCE)
      .map((cells) => `${joined(cells, widths)}\n`)
      .join("");
  }
}

function joined(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join("  ")
    .trimEnd();
}

/** Names come from other hosts: a control character in one must not steer the reader's terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "?");
}

/** Time from `since` to `at`, both ISO 8601, in its two largest units: "12s", "3m4s", "2h5m", "9d1h". */
export function formatAge(since: string, at: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(at) - Date.parse(since)) / 1_000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m${seconds % 60}s`;
  const days = Math.floor(hours / 24);
  return days === 0 ? `${hours}h${minutes % 60}m` : `${days}d${hours % 24}h`;
}
