/** What options need to know of the machine that they are read on. */
import { isAbsolute, resolve } from "node:path";

/** What the host says; the process gives real answers, tests give theirs. */
export interface Host {
  readonly hostname: string;
  readonly workingFolder: string;
  /** Of the pod's ServiceAccount; absent outside of pods. */
  readonly podNamespace?: string;
  /** Whether the path names something that this process may read. */
  isReadable(path: string): boolean;
}

export function absolute(path: string, host: Pick<Host, "workingFolder">): string {
  return isAbsolute(path) ? path : resolve(host.workingFolder, path);
}
