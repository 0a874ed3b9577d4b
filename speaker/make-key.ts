/** `make-key`, as the first argument of the speaker's program: makes the Secret with the gossip key, once, and ends. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { createGossipKey, GOSSIP_KEY_BYTES } from "../src/kube/gossip-key.ts";
import { openApiServer } from "../src/kube/node-api-server.ts";
import { parseNamespace } from "../src/options/option-values.ts";

const SECRET_NAME = "memberlist";

const EXIT_INVALID = 2;
const EXIT_FAILED = 1;
const HELP = `usage: speaker make-key [--namespace NAME] [--secret-name NAME] [--kubeconfig FILE]

Makes the Secret that holds the key of the speakers' gossip, if there is none of its name, and ends with 0 when there is one.
  --namespace     of the Secret; $METALLB_NAMESPACE, else the pod's, else metallb-system
  --secret-name   $METALLB_ML_SECRET_NAME, else ${SECRET_NAME}
  --kubeconfig    for use outside of a pod
`;

type Invocation =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly namespace: string; readonly secretName: string; readonly kubeconfig?: string }
  | { readonly kind: "invalid"; readonly problem: string };

/** What the process gives; tests give theirs. */
export interface MakeKeyHost {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of the ServiceAccount; absent outside of pods. */
  readonly podNamespace?: string;
  print(text: string): void;
  complain(text: string): void;
}

/** Runs to its end, prints one sentence, and gives the exit code. @param words those after `make-key` */
export async function runMakeKey(words: readonly string[], host: MakeKeyHost): Promise<number> {
  const invocation = parseWords(words, host);
  if (invocation.kind === "help") {
    host.print(HELP);
    return 0;
  }
  if (invocation.kind === "invalid") {
    host.complain(`make-key: ${invocation.problem}\n`);
    return EXIT_INVALID;
  }
  try {
    host.print(`${await makeKey(invocation)}\n`);
    return 0;
  } catch (error) {
    host.complain(`make-key: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT_FAILED;
  }
}

function parseWords(words: readonly string[], { environment, podNamespace }: MakeKeyHost): Invocation {
  const text = { type: "string" } as const;
  const options = {
    namespace: text,
    "secret-name": text,
    kubeconfig: text,
    help: { type: "boolean", short: "h" },
  } as const;
  let given: ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];
  try {
    given = parseArgs({ args: [...words], options }).values;
  } catch (error) {
    return { kind: "invalid", problem: error instanceof Error ? error.message : String(error) };
  }
  if (given.help === true) return { kind: "help" };
  const written = firstOf(given.namespace, environment["METALLB_NAMESPACE"], podNamespace) ?? "metallb-system";
  const namespace = parseNamespace(written);
  if (!namespace.ok || namespace.value === undefined) {
    return { kind: "invalid", problem: `--namespace: ${namespace.ok ? "it is empty" : namespace.problem}` };
  }
  const secretName = firstOf(given["secret-name"], environment["METALLB_ML_SECRET_NAME"]) ?? SECRET_NAME;
  const kubeconfig = firstOf(given.kubeconfig);
  return { kind: "run", namespace: namespace.value, secretName, ...(kubeconfig === undefined ? {} : { kubeconfig }) };
}

/** The sentence to print. @throws what the API server answers, or that it does not */
async function makeKey(invocation: Invocation & { readonly kind: "run" }): Promise<string> {
  const { namespace, secretName, kubeconfig } = invocation;
  const api = await openApiServer({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    userAgent: "arpeggio-make-key",
  });
  try {
    const outcome = await createGossipKey(api, namespace, secretName, randomBytes(GOSSIP_KEY_BYTES));
    return `Secret ${namespace}/${secretName} ${outcome === "created" ? "is made" : "is there already"}`;
  } finally {
    api.close();
  }
}

/** Empty counts as not given. */
function firstOf(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.find((text) => text !== undefined && text !== "");
}
