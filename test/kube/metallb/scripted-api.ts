/** An API server that holds a few objects by path, and answers with whatever a test says instead. */
import { ArpeggioError } from "../../../src/base/errors.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../../../src/kube/api-server.ts";

export class ScriptedApi implements ApiServer {
  readonly url = "https://192.0.2.1:6443";
  /** By path; absent: 404. */
  readonly bodies = new Map<string, unknown>();
  /** Instead of the usual answer; "away": none at all. */
  trouble: ((request: ApiRequest) => ApiAnswer | "away" | undefined) | undefined;
  /** Every request, oldest first. */
  readonly asked: ApiRequest[] = [];
  refreshes = 0;

  get writes(): readonly ApiRequest[] {
    return this.asked.filter(({ method }) => method !== "GET");
  }

  async request(request: ApiRequest): Promise<ApiAnswer> {
    this.asked.push(request);
    const trouble = this.trouble?.(request);
    if (trouble === "away") throw new ArpeggioError("ERR_API_UNREACHABLE", "no answer within 5 s");
    return trouble ?? this.#usual(request);
  }

  stream(): () => void {
    throw new Error("nothing is watched");
  }

  refreshCredentials(): void {
    this.refreshes++;
  }

  close(): void {
    this.bodies.clear();
  }

  #usual({ method, path, body }: ApiRequest): ApiAnswer {
    if (method === "POST") {
      const { metadata } = body as { readonly metadata: { readonly name: string } };
      const key = `${path}/${metadata.name}`;
      if (this.bodies.has(key)) return refusal(409, "already exists");
      this.bodies.set(key, body);
      return { status: 201, body };
    }
    if (!this.bodies.has(path)) return refusal(404, "not found");
    const known = this.bodies.get(path);
    if (method === "DELETE") this.bodies.delete(path);
    return { status: 200, body: known };
  }
}

export function refusal(status: number, message: string): ApiAnswer {
  return { status, body: { kind: "Status", status: "Failure", message } };
}

/** Until everything that was begun has come to its next timer. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
}
