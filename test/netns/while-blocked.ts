/** A child whose event loop stands still for exactly as long as something else takes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetnsChild } from "../support/netns.ts";

/** Blocks the child while `work` runs; then it runs `before` before it reads anything, and this gives the result. */
export async function whileBlocked(
  child: NetnsChild,
  work: () => unknown,
  before?: "discardAll" | "drainAll",
): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), "arpeggio-test-"));
  const go = join(folder, "go");
  const result = child.call("block", go, ...(before === undefined ? [] : [before]));
  await child.event<{ kind: string }>(({ kind }) => kind === "blocked");
  try {
    await work();
  } finally {
    writeFileSync(go, "");
  }
  const value = await result;
  rmSync(folder, { recursive: true });
  return value;
}
