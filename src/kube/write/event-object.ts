/** A core/v1 Event as kubectl and MetalLB's tools read it. Pure. */
import type { ApiRequest } from "../api-server.ts";
import { formatSeconds } from "./configuration-state.ts";

/** What an event is about; without its uid `kubectl describe` does not show it. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Who says it. */
export interface EventReporter {
  /** MetalLB's: tools select by it. */
  readonly component: "metallb-speaker" | "metallb-controller";
  /** The reporting instance: the pod's name. */
  readonly instance: string;
}

/** What is said. */
export interface SaidText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface EventSource extends EventReporter {
  readonly wallMs: number;
  /** Part of the event's name: another for each event, the same when it is sent again. */
  readonly digits: string;
}

/** Of an event's message, as events.k8s.io limits its note. */
const MAX_MESSAGE = 1_024;
/** So that the name of the subject and the digits make a name of at most 253. */
const MAX_SUBJECT = 220;

export function eventRequest(subject: EventSubject, text: SaidText, source: EventSource): ApiRequest {
  const { namespace, name } = subject;
  // An event lies where its subject does.
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const time = formatSeconds(source.wallMs);
  const body = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name: `${name.slice(0, MAX_SUBJECT)}.${source.digits}` },
    involvedObject: subject,
    type: text.type,
    reason: text.reason,
    message: text.message.slice(0, MAX_MESSAGE),
    source: { component: source.component },
    reportingComponent: source.component,
    reportingInstance: source.instance,
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
  };
  return { method: "POST", path, body };
}
