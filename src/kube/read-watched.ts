/** Objects as the API server sends them, in a list, an event or an answer, as values of watched.ts. Pure; what is no such object is undefined. */
import type { ObjectIdentity, OwnerReference, WatchedConfigurationState, WatchedL2Status } from "./watched.ts";

type Fields = Readonly<Record<string, unknown>>;

export function readL2Status(object: unknown): WatchedL2Status | undefined {
  const identity = readIdentity(object);
  return identity === undefined ? undefined : l2StatusOf(object, identity);
}

/** Of an object whose identity was read already. */
export function l2StatusOf(object: unknown, identity: ObjectIdentity): WatchedL2Status {
  const metadata = fieldsOf(fieldsOf(object)["metadata"]);
  const status = fieldsOf(fieldsOf(object)["status"]);
  const interfaces = listOf(status["interfaces"]).map((item) => textOf(fieldsOf(item)["name"]) ?? "");
  return {
    ...identity,
    labels: textsOf(metadata["labels"]),
    annotations: textsOf(metadata["annotations"]),
    owners: readOwners(metadata),
    status: {
      ...optional("node", textOf(status["node"])),
      ...optional("serviceName", textOf(status["serviceName"])),
      ...optional("serviceNamespace", textOf(status["serviceNamespace"])),
      ...optional("interfaces", status["interfaces"] === undefined ? undefined : interfaces),
    },
  };
}

export function readConfigurationState(object: unknown): WatchedConfigurationState | undefined {
  const identity = readIdentity(object);
  return identity === undefined ? undefined : configurationStateOf(object, identity);
}

/** Of an object whose identity was read already. */
export function configurationStateOf(object: unknown, identity: ObjectIdentity): WatchedConfigurationState {
  const metadata = fieldsOf(fieldsOf(object)["metadata"]);
  const status = fieldsOf(fieldsOf(object)["status"]);
  return {
    ...identity,
    labels: textsOf(metadata["labels"]),
    owners: readOwners(metadata),
    ...optional("result", textOf(status["result"])),
    ...optional("errorSummary", textOf(status["errorSummary"])),
    conditions: listOf(status["conditions"])
      .map(fieldsOf)
      .map((condition) => ({
        type: textOf(condition["type"]) ?? "",
        status: textOf(condition["status"]) ?? "",
        reason: textOf(condition["reason"]) ?? "",
        message: textOf(condition["message"]) ?? "",
        lastTransitionTime: textOf(condition["lastTransitionTime"]) ?? "",
      })),
  };
}

/** Undefined without a name, a uid or a version. */
function readIdentity(object: unknown): ObjectIdentity | undefined {
  const metadata = fieldsOf(fieldsOf(object)["metadata"]);
  const [name, uid, resourceVersion] = ["name", "uid", "resourceVersion"].map((key) => textOf(metadata[key]));
  if (name === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return { namespace: textOf(metadata["namespace"]) ?? "", name, uid, resourceVersion };
}

function readOwners(metadata: Fields): OwnerReference[] {
  return listOf(metadata["ownerReferences"])
    .map(fieldsOf)
    .map((owner) => ({
      apiVersion: textOf(owner["apiVersion"]) ?? "",
      kind: textOf(owner["kind"]) ?? "",
      name: textOf(owner["name"]) ?? "",
      uid: textOf(owner["uid"]) ?? "",
    }));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fieldsOf(value)).filter((entry) => typeof entry[1] === "string")) as Record<
    string,
    string
  >;
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: Value });
}
