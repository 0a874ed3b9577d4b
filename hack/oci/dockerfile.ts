/** The few instructions of our Dockerfiles, so that image and Dockerfile cannot differ. Pure. */

export interface ImageRecipe {
  /** In order; one layer each. */
  readonly copies: readonly { readonly from: string; readonly to: string }[];
  readonly entrypoint: readonly string[];
  /** `NAME=value` */
  readonly environment: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** @param values of the ARGs @throws for what it does not know: the image would differ from what a builder makes */
export function parseDockerfile(text: string, values: Readonly<Record<string, string>>): ImageRecipe {
  const copies: ImageRecipe["copies"][number][] = [];
  const environment: string[] = [];
  const labels: Record<string, string> = {};
  let entrypoint: readonly string[] = [];
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const [, instruction, rest = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const pair = /^([\w.]+)="?([^"]*)"?$/.exec(rest);
    if (instruction === "FROM" && rest === "scratch") continue;
    if (instruction === "ARG" && values[rest] !== undefined) continue;
    if (instruction === "LABEL" && pair !== null) {
      labels[pair[1] ?? ""] = (pair[2] ?? "").replace(/^\$(\w+)$/, (_all, name: string) => values[name] ?? "");
    } else if (instruction === "ENV" && pair !== null) {
      environment.push(`${pair[1]}=${pair[2]}`);
    } else if (instruction === "COPY" && /^\S+ \/\S*$/.test(rest)) {
      const [from = "", to = ""] = rest.split(" ");
      copies.push({ from, to });
    } else if (instruction === "ENTRYPOINT") {
      entrypoint = JSON.parse(rest) as readonly string[];
    } else {
      throw new Error(`"${line}" is no instruction that hack/image knows`);
    }
  }
  return { copies, entrypoint, environment, labels };
}
