/** Durations as users write them in annotations: `90m`, `24h`, `7d`. Pure. */

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds; undefined for what is none, for nothing, and for more than a year's digits. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,6})([smhd])$/.exec(text.trim());
  const unitMs = UNIT_MS[match?.[2] ?? ""];
  const count = Number(match?.[1]);
  return unitMs === undefined || !(count > 0) ? undefined : count * unitMs;
}
