/** `GET /openapi.json` of the controller: what it serves, as OpenAPI 3.1, whose schemas are those that the documents are checked with. Pure. */
import {
  AllocationSchema,
  ControllerStatusSchema,
  ImpactSchema,
  PendingSchema,
  PoolAddressesSchema,
  PoolsSchema,
} from "../../api/allocator.ts";
import { PROBLEM, textAnswer } from "./openapi-parts.ts";

const SCHEMAS = {
  Status: ControllerStatusSchema,
  Pools: PoolsSchema,
  PoolAddresses: PoolAddressesSchema,
  Allocation: AllocationSchema,
  Pending: PendingSchema,
  Impact: ImpactSchema,
};

type SchemaName = keyof typeof SCHEMAS;

export function allocatorOpenApi(version: string, servesMetrics: boolean): object {
  return {
    openapi: "3.1.0",
    info: { title: "Arpeggio controller", version, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    paths: {
      "/status": read("readStatus", "What this controller knows and does", "Status"),
      "/pools": read("readPools", "Every pool, and how much of it is assigned", "Pools"),
      "/pools/{name}/addresses": read("readAddresses", "Addresses of a pool that somebody has", "PoolAddresses", [
        pathParameter("name"),
        queryParameter("limit", { type: "integer", minimum: 1, maximum: 10_000 }),
        queryParameter("continue", { type: "string" }),
      ]),
      "/services/{namespace}/{name}": read("readService", "What a Service has, and why", "Allocation", [
        pathParameter("namespace"),
        pathParameter("name"),
      ]),
      "/pending": read("readPending", "Services that something is missing for", "Pending"),
      "/pools/impact": {
        post: {
          operationId: "readImpact",
          summary: "Which Services would move if a pool were as the body says",
          description: "Taken from this host's loopback address only. It changes nothing.",
          requestBody: { required: true, content: { "application/yaml": { schema: { type: "string" } } } },
          responses: { "200": documented("Impact"), "400": PROBLEM, "403": PROBLEM, "500": PROBLEM },
        },
      },
      "/healthz": probe("readHealth", "Whether the process is worth keeping", "ok"),
      "/readyz": probe("readReadiness", "Whether everything was read", "ready"),
      ...(servesMetrics ? { "/metrics": probe("readMetrics", "Prometheus' text format", "Every series") } : {}),
    },
    components: { schemas: SCHEMAS },
  };
}

function read(operationId: string, summary: string, schema: SchemaName, parameters?: readonly object[]): object {
  const responses = {
    "200": documented(schema),
    ...(parameters === undefined ? {} : { "400": PROBLEM, "404": PROBLEM }),
    "500": PROBLEM,
  };
  return { get: { operationId, summary, ...(parameters === undefined ? {} : { parameters }), responses } };
}

function documented(schema: SchemaName): object {
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { description: schema, content };
}

function probe(operationId: string, summary: string, description: string): object {
  return {
    get: { operationId, summary, responses: { "200": textAnswer(description), "503": textAnswer("What is missing") } },
  };
}

function pathParameter(name: string): object {
  return { name, in: "path", required: true, schema: { type: "string" } };
}

function queryParameter(name: string, schema: object): object {
  return { name, in: "query", schema };
}
