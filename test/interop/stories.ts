/** Stories that wait most of the time, told at the same time: each has a cluster of its own. */

type Step<Scene> = (scene: Scene) => Promise<void>;

export interface Story {
  readonly about: string;
  readonly titles: readonly string[];
  /** Begins; one promise for each title. After a step that failed the others fail as well. */
  begin(): ReadonlyMap<string, Promise<void>>;
}

/** @param steps by title, one after the other */
export function story<Scene>(
  about: string,
  begin: () => Promise<Scene>,
  steps: Readonly<Record<string, Step<Scene>>>,
): Story {
  return {
    about,
    titles: Object.keys(steps),
    begin: () => {
      const scene = begin();
      const told = new Map<string, Promise<void>>();
      let before: Promise<unknown> = scene;
      for (const [title, step] of Object.entries(steps)) {
        const isFirst = told.size === 0;
        const ready = before.catch((cause: unknown) => {
          throw isFirst ? cause : new Error("a step before this one failed", { cause });
        });
        before = ready.then(async () => step(await scene));
        told.set(title, before as Promise<void>);
      }
      return told;
    },
  };
}

/** One `describe` for each story and one `it` for each step; all stories begin when the first `describe` does. */
export function tellTogether(limitMs: number, stories: readonly Story[]): void {
  const told = new Map<Story, ReadonlyMap<string, Promise<void>>>();
  before(() => {
    for (const each of stories) {
      const steps = each.begin();
      // Its own `it` tells.
      for (const step of steps.values()) step.catch(() => undefined);
      told.set(each, steps);
    }
  });
  for (const each of stories) {
    describe(each.about, () => {
      for (const title of each.titles) {
        it(title, async function () {
          this.timeout(limitMs);
          await told.get(each)?.get(title);
        });
      }
    });
  }
  after(async function () {
    this.timeout(limitMs);
    await Promise.allSettled([...told.values()].flatMap((steps) => [...steps.values()]));
  });
}
