/**
 * Which test runs beside which. What waits most of the time for an API server runs beside what only computes, and goes before it. What
 * measures real time has the machine for itself.
 */

export type Part = "all" | "quick" | "kube";

export interface Lane {
  readonly name: string;
  /** Of `nice`: 0 goes before 10. */
  readonly niceness: number;
  /** Names of lanes that have ended before this one begins. */
  readonly after: readonly string[];
  /** It begins when Kubernetes is built. */
  readonly needsPlane: boolean;
  /** Paths below dist/test, in the order in which they run. */
  readonly files: readonly string[];
}

/** Folders that do not care how long anything takes; the empty one is dist/test itself. */
const PATIENT = [
  "",
  "allocator",
  "announcer",
  "api",
  "base",
  "desired",
  "election",
  "gossip",
  "manifests",
  "net",
  "netlink",
  "oci",
  "packet",
  "simulation",
];

const SIMULATION = /^simulation\//;
/** Its own workers fill the machine for minutes, and what it may take is promised: it has the machine for itself. */
const SEEDS = /^simulation\/scenarios\./;
const CLUSTER = /^kube\/[^/]+$/;
const API = /^kube\/api\//;
/** As long as all others of that folder together. */
const CONTROLLERS = /^kube\/api\/(behaviours|controller|failing-services|several-controllers)\./;
/** Looks at what hack/image made. */
const IMAGE = /^oci\/built\//;

/** Every file is in one lane. What is not known here may measure time. The output is printed in this order. */
export function lanesOf(files: readonly string[], part: Part): readonly Lane[] {
  const sorted = files.toSorted();
  const take = (isTaken: (file: string) => boolean): readonly string[] => sorted.filter(isTaken);
  const isHere = (file: string): boolean => {
    if (part === "all") return true;
    const needsKubernetes = CLUSTER.test(file) || API.test(file);
    return part === "kube" ? CLUSTER.test(file) : !needsKubernetes && !IMAGE.test(file);
  };
  const lanes: readonly Lane[] = [
    {
      name: "computing",
      niceness: 10,
      after: [],
      needsPlane: false,
      files: take((file) => isPatient(file) && !SIMULATION.test(file)),
    },
    // As long as all else that computes.
    {
      name: "simulation",
      niceness: 10,
      after: [],
      needsPlane: false,
      files: take((file) => SIMULATION.test(file) && !SEEDS.test(file)),
    },
    {
      name: "API server",
      niceness: 0,
      after: [],
      needsPlane: true,
      files: take((file) => API.test(file) && !CONTROLLERS.test(file)),
    },
    { name: "controllers", niceness: 0, after: [], needsPlane: true, files: take((file) => CONTROLLERS.test(file)) },
    {
      name: "seeds",
      niceness: 0,
      after: ["computing", "simulation", "API server", "controllers"],
      needsPlane: false,
      files: take((file) => SEEDS.test(file)),
    },
    {
      name: "real time",
      niceness: 0,
      after: ["computing", "simulation", "API server", "controllers", "seeds"],
      needsPlane: false,
      files: take((file) => !isPatient(file) && !CLUSTER.test(file) && !API.test(file)),
    },
    { name: "cluster", niceness: 0, after: ["real time"], needsPlane: true, files: take((file) => CLUSTER.test(file)) },
  ];
  return lanes
    .map((lane) => ({ ...lane, files: lane.files.filter(isHere) }))
    .filter(({ files: own }) => own.length > 0);
}

function isPatient(file: string): boolean {
  return PATIENT.includes(folderOf(file));
}

/** The folder directly below dist/test; empty for a file there. */
function folderOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : "";
}
