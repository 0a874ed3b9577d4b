/** The Secret that holds the speakers' gossip key, made once in the life of a cluster, by whoever comes first. */
import { ArpeggioError } from "../base/errors.ts";
import type { ApiServer } from "./api-server.ts";

/** Of randomness: AES-128, whose key MetalLB writes as text and then takes by its characters. */
export const GOSSIP_KEY_BYTES = 16;

const CREATED = 201;
/** AlreadyExists */
const CONFLICT = 409;

/**
 * Creates the Secret if there is none of its name. It has no owner: nothing that is deleted takes the key along.
 * @param random GOSSIP_KEY_BYTES of them; the Secret holds MetalLB's form, 22 ASCII characters of base64 without padding
 * @throws ERR_API_REFUSED with the server's sentence; what the ApiServer throws when it does not answer
 */
export async function createGossipKey(
  api: ApiServer,
  namespace: string,
  name: string,
  random: Uint8Array,
): Promise<"created" | "existed"> {
  const secretkey = Buffer.from(random).toString("base64").replace(/=+$/, "");
  const { status, body } = await api.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace },
      type: "Opaque",
      data: { secretkey: Buffer.from(secretkey).toString("base64") },
    },
  });
  if (status === CREATED) return "created";
  if (status === CONFLICT) return "existed";
  throw new ArpeggioError("ERR_API_REFUSED", `Secret ${namespace}/${name} is not created: ${sentenceOf(status, body)}`);
}

function sentenceOf(status: number, body: unknown): string {
  const message = typeof body === "object" && body !== null && "message" in body ? body.message : undefined;
  return typeof message === "string" ? message : `HTTP status ${status}`;
}
