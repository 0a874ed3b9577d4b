/** Speakers that are reached without Kubernetes. */
import type { Door } from "./ask.ts";
import { getJson } from "./http-get.ts";
import type { SpeakerUrl } from "./options.ts";

/** A speaker answers within its own 2 s or says that it cannot. */
const DEADLINE_MS = 5_000;

export function openUrls(urls: readonly SpeakerUrl[]): readonly Door[] {
  return urls.map((url) => ({
    reached: { url: url.text },
    get: (path) =>
      getJson("host" in url ? { host: url.host, port: url.port } : { socketPath: url.socketPath }, path, DEADLINE_MS),
  }));
}
