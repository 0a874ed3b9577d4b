/** The speaker's process: reads options, then runs; every fault ends it with a sentence and an exit code. */
import { createLog } from "../src/base/log.ts";
import { processHost } from "../src/daemon/process-host.ts";
import { endOnFault } from "../src/sys/end-on-fault.ts";
import { formatHelp, formatVersion } from "./help.ts";
import { loadInTurns, type Part } from "./load-in-turns.ts";
import { parseOptions } from "./options.ts";

/** Options, environment or the files they name are wrong. */
const EXIT_INVALID = 2;

/** Of what runs, the parts that others import first. */
const PARTS: readonly Part[] = [
  () => import("node:http"),
  () => import("node:https"),
  () => import("node:worker_threads"),
  () => import("typebox"),
  () => import("typebox/compile"),
  () => import("../api/status.ts"),
  () => import("fastify"),
  () => import("../src/http/server.ts"),
  () => import("prom-client"),
  () => import("../src/metrics/metrics.ts"),
  () => import("../src/daemon/metrics-listeners.ts"),
  () => import("./files-source.ts"),
  () => import("./cluster.ts"),
  () => import("./run.ts"),
];

/** Of client-node, which the files source does without. */
const KUBERNETES_PARTS: readonly Part[] = [
  () => import("@kubernetes/client-node/dist/gen/http/isomorphic-fetch.js"),
  () => import("@kubernetes/client-node/dist/gen/models/ObjectSerializer.js"),
  () => import("@kubernetes/client-node/dist/gen/index.js"),
  () => import("@kubernetes/client-node/dist/oidc_auth.js"),
  () => import("@kubernetes/client-node/dist/config.js"),
];

function printProblems(problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`speaker: ${problem}\n`);
  process.exit(EXIT_INVALID);
}

const host = processHost();
if (process.argv[2] === "make-key") {
  const { runMakeKey } = await import("./make-key.ts");
  const keyHost = {
    ...host,
    environment: process.env,
    print: (text: string) => void process.stdout.write(text),
    complain: (text: string) => void process.stderr.write(text),
  };
  process.exit(await runMakeKey(process.argv.slice(3), keyHost));
}
const invocation = parseOptions(process.argv.slice(2), process.env, host);
switch (invocation.kind) {
  case "help":
    process.stdout.write(formatHelp());
    break;
  case "version":
    process.stdout.write(formatVersion());
    break;
  case "invalid":
    printProblems(invocation.problems);
    break;
  case "run": {
    const { options, notes } = invocation;
    const log = createLog(options.logLevel, (line) => void process.stderr.write(line), Date.now);
    for (const note of notes) log.warn(note);
    const fail = endOnFault("speaker");
    await loadInTurns(options.source.kind === "kubernetes" ? [...PARTS, ...KUBERNETES_PARTS] : PARTS);
    const { runSpeaker } = await import("./run.ts");
    await runSpeaker(options, log, { fail, refuse: printProblems }).catch(fail);
    break;
  }
}
