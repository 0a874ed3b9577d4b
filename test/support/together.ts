/** Tests that wait most of the time, run at the same time: each has its own things, so none sees another. */

import { beginTogether } from "./begin-together.ts";
import type { Scene } from "./kube-scene.ts";
import { Trial } from "./kube-trial.ts";

type Body = (trial: Trial) => Promise<void>;

const LIMIT_MS = 120_000;

/** One `it` for each, in this order. All begin when the `describe` does; each `it` waits for its own. */
export function together(scene: () => Scene, tests: Readonly<Record<string, Body>>): void {
  const bodies = Object.entries(tests).map(
    ([name, body]) => [name, () => run(new Trial(scene(), scene().nextNumber()), body)] as const,
  );
  beginTogether(Object.fromEntries(bodies), { limitMs: LIMIT_MS, atOnce: Number.POSITIVE_INFINITY });
}

/** A test that changes what all see, such as a node: nothing else runs beside it. */
export function alone(scene: () => Scene, name: string, body: Body): void {
  it(name, async function () {
    this.timeout(LIMIT_MS);
    await run(new Trial(scene(), scene().nextNumber()), body);
  });
}

async function run(trial: Trial, body: Body): Promise<void> {
  try {
    await body(trial);
  } finally {
    await trial.end();
  }
}
