/** What options need to know of the machine, as this process finds it. */
import { accessSync, constants, readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Host } from "../options/host.ts";

/** Where every pod finds it. */
const NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

export function processHost(): Host {
  const podNamespace = isReadable(NAMESPACE_FILE) ? readFileSync(NAMESPACE_FILE, "utf8").trim() : "";
  return {
    hostname: hostname(),
    workingFolder: process.cwd(),
    isReadable,
    ...(podNamespace === "" ? {} : { podNamespace }),
  };
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
