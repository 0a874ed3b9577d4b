/** Endpoints as map keys. Pure. */
import type { Endpoint } from "./message.ts";

export function endpointKey(endpoint: Endpoint): string {
  return `${endpoint.ip}|${endpoint.port}`;
}

export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.port === b.port && a.ip === b.ip;
}
