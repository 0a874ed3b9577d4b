/**
 * Which fields that Arpeggio knows the installed CRDs drop: an older CRD of the same name loses them without a word. Read from the
 * served OpenAPI document, for which every authenticated user has the right, unlike for the CRDs themselves.
 */
import type { TSchema } from "typebox";
import { ConfigurationStateSchema } from "../../../api/configuration-state.ts";
import { IPAddressPoolSchema } from "../../../api/ip-address-pool.ts";
import { L2AdvertisementSchema } from "../../../api/l2-advertisement.ts";
import { ServiceL2StatusSchema } from "../../../api/service-l2-status.ts";
import type { ApiServer } from "../api-server.ts";

type Fields = Readonly<Record<string, unknown>>;

const KNOWN: Readonly<Record<string, TSchema>> = {
  ConfigurationState: ConfigurationStateSchema,
  IPAddressPool: IPAddressPoolSchema,
  L2Advertisement: L2AdvertisementSchema,
  ServiceL2Status: ServiceL2StatusSchema,
};
const COMPARED = ["spec", "status"] as const;
/** No schema of ours is deeper; a served one is a stranger's. */
const MAX_DEPTH = 12;

/**
 * Such as `L2Advertisement.spec.serviceSelectors`, sorted; a kind that is not served at all is not judged. Undefined: the document
 * could not be read. Rejects as `ApiServer.request` does.
 */
export async function readDroppedFields(api: ApiServer): Promise<readonly string[] | undefined> {
  const answer = await api.request({ method: "GET", path: "/openapi/v3/apis/metallb.io/v1beta1" });
  return answer.status === 200 ? findDroppedFields(answer.body) : undefined;
}

export function findDroppedFields(document: unknown): readonly string[] {
  const schemas = Object.values(fieldsOf(fieldsOf(fieldsOf(document)["components"])["schemas"]));
  const dropped: string[] = [];
  for (const served of schemas.map(fieldsOf)) {
    const kind = kindOf(served);
    const known = kind === undefined ? undefined : KNOWN[kind];
    if (kind === undefined || known === undefined) continue;
    for (const part of COMPARED) {
      const ours = propertiesOf(known)[part];
      const theirs = propertiesOf(served)[part];
      if (ours !== undefined) compare(`${kind}.${part}`, ours, theirs, dropped, 0);
    }
  }
  return dropped.toSorted();
}

function compare(path: string, known: unknown, served: unknown, dropped: string[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (served === undefined) {
    // An empty object of ours is one that holds nothing to be dropped.
    if (depth > 0 || Object.keys(propertiesOf(known)).length > 0) dropped.push(path);
    return;
  }
  if (fieldsOf(served)["x-kubernetes-preserve-unknown-fields"] === true) return;
  const items = fieldsOf(withoutNull(known))["items"];
  if (items !== undefined) {
    compare(`${path}[]`, items, fieldsOf(served)["items"], dropped, depth + 1);
    return;
  }
  for (const [name, field] of Object.entries(propertiesOf(known))) {
    compare(`${path}.${name}`, field, propertiesOf(served)[name], dropped, depth + 1);
  }
}

function kindOf(served: Fields): string | undefined {
  const kinds = served["x-kubernetes-group-version-kind"];
  const { group, kind } = fieldsOf(fieldsOf(kinds)["0"]);
  return group === "metallb.io" && typeof kind === "string" ? kind : undefined;
}

function propertiesOf(schema: unknown): Fields {
  return fieldsOf(fieldsOf(withoutNull(schema))["properties"]);
}

/** Our schemas allow null for what is empty. */
function withoutNull(schema: unknown): unknown {
  const choices = fieldsOf(schema)["anyOf"];
  if (!Array.isArray(choices)) return schema;
  return choices.find((choice) => fieldsOf(choice)["type"] !== "null");
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
