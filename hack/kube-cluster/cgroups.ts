/**
 * The cluster's control groups (cgroup version 1): one below the caller's own in every hierarchy, and in it one for each node. A
 * node's kubelet sees its own as the root, so that it needs no options of its own.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ArpeggioError } from "../../src/base/errors.ts";

/** One hierarchy: where it is mounted, and the caller's own group in it. */
interface Hierarchy {
  readonly mountPoint: string;
  readonly controllers: readonly string[];
  readonly own: string;
}

const NEEDED = ["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids"];
const REMOVE_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** Folders of the group of that name, one in each hierarchy, whether they exist or not. */
export function groupFolders(name: string): readonly string[] {
  return readHierarchies().map(({ mountPoint, own }) => join(mountPoint, own, name));
}

/** Makes the groups, with one group in each for each child. */
export function createGroups(groups: readonly string[], children: readonly string[]): void {
  for (const folder of groups.flatMap((group) => [group, ...children.map((child) => join(group, child))])) {
    mkdirSync(folder);
    if (existsSync(join(folder, "cpuset.cpus"))) inheritCpus(folder);
  }
}

/** Everything below the groups goes, the groups themselves too. Their processes were killed before, or are killed here. */
export async function removeGroups(groups: readonly string[]): Promise<void> {
  const deadlineMs = performance.now() + REMOVE_TIMEOUT_MS;
  for (;;) {
    const left = groups.filter((group) => !removeTree(group));
    if (left.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new Error(`cgroups with processes that cannot be killed: ${left.join(" ")}`);
    for (const pid of left.flatMap(processesIn)) killQuietly(pid);
    await sleep(POLL_MS);
  }
}

/** Ids of all processes in the group and below. */
export function processesIn(group: string): readonly number[] {
  if (!existsSync(group)) return [];
  return [group, ...subfolders(group)].flatMap((folder) => {
    try {
      const text = readFileSync(join(folder, "cgroup.procs"), "utf8");
      return text.split("\n").filter(Boolean).map(Number);
    } catch {
      return []; // it went meanwhile
    }
  });
}

function readHierarchies(): readonly Hierarchy[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter((fields) => fields[fields.indexOf("-") + 1] === "cgroup")
    .map((fields) => ({ mountPoint: fields[4] ?? "", options: (fields.at(-1) ?? "").split(",") }));
  const hierarchies = readFileSync("/proc/self/cgroup", "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const [, names = "", own = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      const controllers = names.split(",").filter(Boolean);
      const mount = mounts.find(
        ({ options }) => controllers.length > 0 && controllers.every((one) => options.includes(one)),
      );
      return mount === undefined ? [] : [{ mountPoint: mount.mountPoint, controllers, own }];
    });
  const known = new Set(hierarchies.flatMap(({ controllers }) => controllers));
  const missing = NEEDED.filter((controller) => !known.has(controller));
  if (missing.length > 0) {
    throw new ArpeggioError(
      "ERR_CONFIG_INVALID",
      `the cluster's nodes need cgroup version 1, and there is no hierarchy of version 1 for ${missing.join(", ")} here`,
    );
  }
  return hierarchies;
}

/** A new group has no processor and no memory node, and no process may enter it until it does. */
function inheritCpus(folder: string): void {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    writeFileSync(join(folder, file), readFileSync(join(folder, "..", file)));
  }
}

/** Says whether the whole tree is gone. */
function removeTree(group: string): boolean {
  if (!existsSync(group)) return true;
  for (const folder of [...subfolders(group).toReversed(), group]) {
    try {
      rmdirSync(folder);
    } catch {
      return false; // a process is still in it
    }
  }
  return true;
}

/** Every folder below, parents before their children. */
function subfolders(group: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(group, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return []; // it went meanwhile
  }
  return names.flatMap((name) => [join(group, name), ...subfolders(join(group, name))]);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it went meanwhile
  }
}
