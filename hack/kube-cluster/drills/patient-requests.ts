/** Requests to the API server of a machine that is busy with other things. */
import type { ApiAnswer, ApiRequest, ApiServer } from "../../../src/kube/api-server.ts";

/** Asks again when there was no answer, `attempts` times in all: what had no answer may have been done. */
export async function answered(api: ApiServer, request: ApiRequest, attempts: number): Promise<ApiAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await api.request(request);
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}

/** Some at a time: a server takes only so many requests at once. */
export async function forEach<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
