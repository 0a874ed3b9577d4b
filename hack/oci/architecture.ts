/** What a processor is called by those who must be asked about it. */

export interface Architecture {
  /** Go's, Debian's and OCI's word. */
  readonly name: "amd64" | "arm64";
  /** npm's package of Node. */
  readonly nodePackage: string;
  /** GNU's triplet: the folder of Debian's libraries. */
  readonly triplet: string;
  /** In front of the names of compiler and strip. */
  readonly toolPrefix: string;
}

const TRIPLETS = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;
const NODE_WORDS = { amd64: "x64", arm64: "arm64" } as const;

/** @param native Node's word for this machine, such as x64 @throws for an architecture that has no image */
export function architectureOf(name: string | undefined, native: string): Architecture {
  const own = native === "x64" ? "amd64" : native;
  const wanted = name ?? own;
  if (wanted !== "amd64" && wanted !== "arm64") throw new Error(`there is no image for ${wanted}: amd64 or arm64`);
  const triplet = TRIPLETS[wanted];
  return {
    name: wanted,
    nodePackage: `node-linux-${NODE_WORDS[wanted]}`,
    triplet,
    toolPrefix: wanted === own ? "" : `${triplet}-`,
  };
}
