/** What the speaker's ConfigurationState is to say, and what is to be written for it. Pure. */
import { CONFIGURATION_STATE_LABELS } from "../../../api/annotations.ts";
import { CONDITION_MESSAGE_LENGTH, type ConfigurationResult } from "../../../api/configuration-state.ts";
import type { OwnerReference, ResourceProblem, WatchedConfigurationState } from "../watched.ts";
import { labelValue } from "./label-value.ts";

type Condition = WatchedConfigurationState["conditions"][number];

/** A status to be applied as a whole: what is not in it is taken away. */
export interface ConfigurationStatus {
  readonly result: ConfigurationResult;
  /** Empty rather than absent: only so does it end one that another field owner wrote. */
  readonly errorSummary: string;
  readonly conditions: readonly Condition[];
}

/** Whose state it is. */
export interface ConfigurationSubject {
  /** Of the object. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Type of the condition that says whether what was read is valid; MetalLB's, as is the field owner of the status. */
  readonly condition: string;
  readonly fieldOwner: string;
  /** Whom managedFields name for everything else. */
  readonly manager: "arpeggio-speaker" | "arpeggio-controller";
}

export interface ConfigurationQuestion {
  readonly subject: ConfigurationSubject;
  /** Undefined: unknown, so the owners stay as they are. */
  readonly owner: OwnerReference | undefined;
  /** Undefined: the resources are not read yet. */
  readonly problems: readonly ResourceProblem[] | undefined;
  /** Fields that the installed CRDs drop; undefined: not known, so what is said of them stays as it is. */
  readonly droppedFields: readonly string[] | undefined;
  readonly state: WatchedConfigurationState | undefined;
  readonly wallMs: number;
}

export type ConfigurationWrite =
  | {
      readonly kind: "create";
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly owners: readonly OwnerReference[];
    }
  | { readonly kind: "metadata"; readonly name: string; readonly metadata: Readonly<Record<string, unknown>> }
  | { readonly kind: "status"; readonly name: string; readonly status: ConfigurationStatus };

const SCHEMA_CONDITION = "arpeggio.dev/SchemaComplete";
/** Tools that know MetalLB look for it. */
const MESSAGE_PREFIX = "configuration error: ";
/** More are counted: a status is no log. */
const MAX_SENTENCES = 50;

export function speakerConfiguration(node: string): ConfigurationSubject {
  return {
    name: `speaker-${node}`,
    labels: {
      [CONFIGURATION_STATE_LABELS.componentType]: "speaker",
      [CONFIGURATION_STATE_LABELS.nodeName]: labelValue(node),
    },
    condition: "configReconcilerValid",
    fieldOwner: "configReconciler",
    manager: "arpeggio-speaker",
  };
}

export const CONTROLLER_CONFIGURATION: ConfigurationSubject = {
  name: "controller",
  labels: { [CONFIGURATION_STATE_LABELS.componentType]: "controller" },
  condition: "poolReconcilerValid",
  fieldOwner: "poolReconciler",
  manager: "arpeggio-controller",
};

export function planConfigurationState(question: ConfigurationQuestion): ConfigurationWrite | undefined {
  const { subject, owner, state } = question;
  const { name, labels } = subject;
  if (state === undefined) return { kind: "create", name, labels, owners: owner === undefined ? [] : [owner] };
  const hasLabels = Object.entries(labels).every(([key, text]) => state.labels[key] === text);
  const hasOwner = owner === undefined || (state.owners.length === 1 && state.owners[0]?.uid === owner.uid);
  if (!hasLabels || !hasOwner) {
    const metadata = { labels, ...(owner === undefined ? {} : { ownerReferences: [owner] }) };
    return { kind: "metadata", name, metadata };
  }
  const status = deriveConfigurationStatus(question);
  return isSameStatus(state, status) ? undefined : { kind: "status", name, status };
}

function deriveConfigurationStatus(question: ConfigurationQuestion): ConfigurationStatus {
  const valid = deriveValidity(question.subject.condition, question.problems);
  const schema = deriveSchema(question.droppedFields);
  const known = question.state?.conditions.find((condition) => condition.type === SCHEMA_CONDITION);
  const conditions = [valid, ...(schema === undefined ? [] : [schema])].map((condition) => dated(condition, question));
  if (schema === undefined && known !== undefined) conditions.push(known);
  if (question.problems === undefined) return { result: "Unknown", errorSummary: "", conditions };
  if (valid.status === "True") return { result: "Valid", errorSummary: "", conditions };
  return { result: "Invalid", errorSummary: valid.message, conditions };
}

type Undated = Omit<Condition, "lastTransitionTime">;

function deriveValidity(type: string, problems: readonly ResourceProblem[] | undefined): Undated {
  if (problems === undefined) {
    return { type, status: "Unknown", reason: "UnknownError", message: "the resources are not read yet" };
  }
  // A BGP resource is not wrong: an event says that it is not served.
  const sentences = problems.filter(({ problem }) => problem === "refused").map(({ sentence }) => sentence);
  if (sentences.length === 0) return { type, status: "True", reason: "Reconciled", message: "" };
  return { type, status: "False", reason: "ConfigurationError", message: messageOf(sentences.toSorted()) };
}

function messageOf(sentences: readonly string[]): string {
  const more = sentences.length - MAX_SENTENCES;
  const lines = [...sentences.slice(0, MAX_SENTENCES), ...(more > 0 ? [`and ${more} more`] : [])];
  return `${MESSAGE_PREFIX}${lines.join("\n")}`.slice(0, CONDITION_MESSAGE_LENGTH);
}

function deriveSchema(droppedFields: readonly string[] | undefined): Undated | undefined {
  const type = SCHEMA_CONDITION;
  if (droppedFields === undefined) return undefined;
  if (droppedFields.length === 0) return { type, status: "True", reason: "AllFieldsKept", message: "" };
  const message = `the installed CRDs drop ${droppedFields.join(", ")}`.slice(0, CONDITION_MESSAGE_LENGTH);
  return { type, status: "False", reason: "FieldsDropped", message };
}

/** The time moves only when the status does. */
function dated(condition: Undated, { state, wallMs }: ConfigurationQuestion): Condition {
  const before = state?.conditions.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status && before.lastTransitionTime !== "";
  return { ...condition, lastTransitionTime: isSame ? before.lastTransitionTime : formatSeconds(wallMs) };
}

/** As Kubernetes writes times: RFC 3339 without a fraction. */
export function formatSeconds(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z");
}

function isSameStatus(state: WatchedConfigurationState, status: ConfigurationStatus): boolean {
  return (
    state.result === status.result &&
    (state.errorSummary ?? "") === status.errorSummary &&
    status.conditions.every((condition) => {
      const there = state.conditions.find(({ type }) => type === condition.type);
      return (
        there?.status === condition.status && there.reason === condition.reason && there.message === condition.message
      );
    })
  );
}
