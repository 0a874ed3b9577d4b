/** `GET /openapi.json`: what this server serves, as OpenAPI 3.1, whose schemas are the JSON schemas that the documents are checked with. Pure. */
import { AddressSchema } from "../../api/address.ts";
import { StatusSchema } from "../../api/status.ts";
import { PROBLEM, TEXT, textAnswer } from "./openapi-parts.ts";

/** A document that `Accept: application/json` gets as JSON, and everybody else as aligned text. */
function documented(description: string, schema: string) {
  return {
    description,
    content: { ...TEXT, "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

function stepDown(operationId: string, summary: string) {
  return {
    operationId,
    summary,
    description: "Taken from this host's loopback address only.",
    responses: { "200": textAnswer("Done"), "403": PROBLEM },
  };
}

export function openApiDocument(version: string, servesMetrics: boolean): object {
  const metrics = {
    get: {
      operationId: "readMetrics",
      summary: "Prometheus' text format",
      responses: { "200": textAnswer("Every series"), "500": PROBLEM },
    },
  };
  return {
    openapi: "3.1.0",
    info: { title: "Arpeggio speaker", version, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    paths: {
      "/status": {
        get: {
          operationId: "readStatus",
          summary: "What this speaker knows and does",
          responses: {
            "200": documented("This node, its members, links, sources and addresses", "Status"),
            "500": PROBLEM,
          },
        },
      },
      "/status/addresses/{ip}": {
        get: {
          operationId: "readAddress",
          summary: "The whole decision about one address: who leads it, and why",
          parameters: [{ name: "ip", in: "path", required: true, schema: { type: "string" } }],
          responses: {
            "200": documented("Every candidate, and every member that may not lead it", "Address"),
            "400": PROBLEM,
            "404": PROBLEM,
            "500": PROBLEM,
          },
        },
      },
      "/healthz": {
        get: {
          operationId: "readHealth",
          summary: "Whether the process is worth keeping",
          responses: { "200": textAnswer("ok"), "503": textAnswer("Why it is not") },
        },
      },
      "/readyz": {
        get: {
          operationId: "readReadiness",
          summary: "Whether the node may lead",
          responses: { "200": textAnswer("ready"), "503": textAnswer("What is missing, a line each") },
        },
      },
      "/step-down": {
        post: stepDown("stepDown", "Moves this node's addresses to nodes that can take them"),
        delete: stepDown("endStepDown", "Ends it"),
      },
      ...(servesMetrics ? { "/metrics": metrics } : {}),
    },
    components: { schemas: { Status: StatusSchema, Address: AddressSchema } },
  };
}
