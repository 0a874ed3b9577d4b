/** Tests that wait most of the time, run at the same time: each has its own things, so none sees another. */
import type { Scene } from "./kube-scene.ts";
import { Trial } from "./kube-trial.ts";

type Body = (trial: Trial) => Promise<void>;

const LIMIT_MS = 120_000;

/** One `it` for each, in this order. All begin when the `describe` does; each `it` waits for its own. */
export function together(scene: () => Scene, tests: Readonly<Record<string, Body>>): void {
  const running = new Map<string, Promise<void>>();
  before(() => {
    for (const [name, body] of Object.entries(tests)) {
      const ended = run(new Trial(scene(), scene().nextNumber()), body);
      // Its own `it` tells.
      ended.catch(() => undefined);
      running.set(name, ended);
    }
  });
  for (const name of Object.keys(tests)) {
    it(name, async function () {
      this.timeout(LIMIT_MS);
      await running.get(name);
    });
  }
  after(async function () {
    this.timeout(LIMIT_MS);
    await Promise.allSettled(running.values());
  });
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
