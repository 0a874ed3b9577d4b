/** One kind of objects, kept up to date: the shell that gives a reflector its connection and its timer, and the store its objects. */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { fieldOf } from "../../desired/resource-readers.ts";
import type { ApiServer, StreamListener } from "../api-server.ts";
import { parseExactJson } from "./exact-json.ts";
import { LineReader } from "./line-reader.ts";
import { ListReader, type ParseJson } from "./list-reader.ts";
import type { ObjectStore } from "./object-store.ts";
import { deadlineOf, INITIAL_STATE, step } from "./reflector.ts";
import type { ReflectorEffect, ReflectorEvent, ReflectorState, Verb } from "./reflector-state.ts";
import { readRefusal } from "./refusal.ts";
import { parseWatchLine } from "./watch-event.ts";
import { acceptOf, pathOf, type WatchedKind } from "./watched-kind.ts";

/** Of an error's body: the rest is cut off, and then it is no JSON. */
const MAX_REFUSAL_BYTES = 64 * 1_024;

export interface KindReflectorOptions<Value> {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: WatchedKind;
  /** The daemon's own. */
  readonly namespace: string;
  /** Selectors. */
  readonly query: Readonly<Record<string, string>>;
  readonly store: ObjectStore<Value>;
  /** After every complete list, and after every event that made a difference. */
  readonly onObjects: (change: ObjectsChange) => void;
  /** After every complete list, before `onObjects`. */
  readonly onList?: () => void;
  /** After every event, even one without a difference. */
  readonly onState?: (state: ReflectorState) => void;
  /** Something that is no stranger's fault; the watch goes on. */
  readonly onFault: (error: unknown) => void;
}

export interface ObjectsChange {
  readonly isFirstList: boolean;
  readonly hasChanged: boolean;
}

export class KindReflector<Value> {
  readonly #options: KindReflectorOptions<Value>;
  #state: ReflectorState = INITIAL_STATE;
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #endOpen: (() => void) | undefined;
  /** Objects beyond those of the first page, when that is enough. */
  #remaining = 0;
  #isClosed = false;
  readonly #parse: ParseJson;

  constructor(options: KindReflectorOptions<Value>) {
    this.#options = options;
    this.#parse = options.kind.hasLargeNumbers === true ? parseExactJson : JSON.parse;
  }

  get state(): ReflectorState {
    return this.#state;
  }

  get objects(): number {
    return this.#options.store.objects.size + this.#remaining;
  }

  start(): void {
    this.#step({ kind: "start" });
  }

  /** Lists anew at once, and goes on watching from there; what is held stands until the list is whole. */
  relist(): void {
    this.#step({ kind: "relist" });
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#endOpen?.();
  }

  #step(event: ReflectorEvent): void {
    if (this.#isClosed) return;
    const { clock, kind, random } = this.#options;
    const { state, effects } = step(kind, this.#state, event, clock.nowMs(), random);
    const isFirstList = state.isListed && !this.#state.isListed;
    this.#state = state;
    for (const effect of effects) this.#do(effect, isFirstList);
    this.#keepTime();
    this.#options.onState?.(this.#state);
  }

  #do(effect: ReflectorEffect, isFirstList: boolean): void {
    const { store, api } = this.#options;
    switch (effect.kind) {
      case "request":
        return this.#request(effect.verb, effect.query);
      case "cancel":
        this.#endOpen?.();
        this.#endOpen = undefined;
        return;
      case "discard":
        return store.discard();
      case "commit":
        this.#guarded(() => this.#options.onList?.());
        return this.#tell(() => store.commit(), isFirstList);
      case "apply":
        return this.#tell(() => store.apply(effect.object), false);
      case "remove":
        return this.#tell(() => store.remove(effect.object), false);
      case "refresh-credentials":
        return api.refreshCredentials();
    }
  }

  #tell(change: () => boolean, isFirstList: boolean): void {
    this.#guarded(() => {
      const hasChanged = change();
      if (hasChanged || isFirstList) this.#options.onObjects({ isFirstList, hasChanged });
    });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  /** A later deadline needs no new timer: the tick that comes too early does nothing. */
  #keepTime(): void {
    const atMs = deadlineOf(this.#state);
    if (this.#timer !== undefined && this.#timerAtMs <= atMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#options.clock.schedule(atMs - this.#options.clock.nowMs(), () => {
      this.#timer = undefined;
      this.#step({ kind: "tick" });
    });
  }

  #request(verb: Verb, query: Readonly<Record<string, string>>): void {
    this.#endOpen?.();
    const { api, kind, namespace } = this.#options;
    const request = {
      method: "GET",
      path: pathOf(kind, namespace),
      query: { ...query, ...this.#options.query },
      accept: acceptOf(kind, verb),
    } as const;
    let isOpen = true;
    const stop = api.stream(
      request,
      this.#listener(verb, () => isOpen),
    );
    this.#endOpen = () => {
      isOpen = false;
      stop();
    };
  }

  /** Good answers go to the reader of their kind, others are collected. `isCurrent`: another request may have taken its place. */
  #listener(verb: Verb, isCurrent: () => boolean): StreamListener {
    let body: AnswerBody | undefined;
    return {
      opened: (status, retryAfterSeconds) => {
        if (status !== 200) body = this.#refusalBody(status, retryAfterSeconds);
        else if (verb === "list") body = this.#listBody();
        else body = this.#watchBody(isCurrent);
        if (status === 200) this.#step({ kind: "opened" });
      },
      data: (bytes) => {
        if (isCurrent()) this.#step({ kind: "heard" });
        if (isCurrent()) body?.data(bytes);
      },
      ended: (error) => {
        if (!isCurrent()) return;
        const event = body?.end(error) ?? ended(error);
        this.#step(event);
      },
    };
  }

  #listBody(): AnswerBody {
    const reader = new ListReader(this.#parse);
    return {
      data: (bytes) => {
        for (const item of reader.push(bytes)) this.#guarded(() => this.#options.store.stage(item));
      },
      end: (error) => {
        if (error !== undefined) return ended(error);
        const envelope = reader.end();
        const page = envelope.ok ? pageOf(envelope.value) : undefined;
        if (this.#options.kind.isFirstPageEnough === true) this.#remaining = page?.remaining ?? 0;
        return page?.event ?? { kind: "garbage" };
      },
    };
  }

  #watchBody(isCurrent: () => boolean): AnswerBody {
    const reader = new LineReader();
    return {
      data: (bytes) => {
        const lines = reader.push(bytes);
        if (lines === undefined) this.#step({ kind: "garbage" });
        for (const line of lines ?? []) {
          const event = parseWatchLine(line, this.#parse);
          // What came before may have ended this watch.
          if (isCurrent()) this.#step(event.ok ? event.value : { kind: "garbage" });
        }
      },
      end: ended,
    };
  }

  #refusalBody(status: number, retryAfterSeconds: number | undefined): AnswerBody {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    return {
      data: (part) => {
        bytes += part.length;
        if (bytes <= MAX_REFUSAL_BYTES) parts.push(part);
      },
      end: () => ({
        kind: "refused",
        refusal: readRefusal(status, parsedJson(Buffer.concat(parts).toString("utf8")), retryAfterSeconds),
      }),
    };
  }
}

/** Who reads the bytes of an answer, and what its end means. */
interface AnswerBody {
  readonly data: (bytes: Uint8Array) => void;
  readonly end: (error: string | undefined) => ReflectorEvent;
}

function ended(error: string | undefined): ReflectorEvent {
  return { kind: "ended", ...(error === undefined ? {} : { error }) };
}

/** Undefined for what is no list. */
function pageOf(envelope: unknown): { readonly event: ReflectorEvent; readonly remaining: number } | undefined {
  const metadata = fieldOf(envelope, "metadata");
  const resourceVersion = fieldOf(metadata, "resourceVersion");
  const next = fieldOf(metadata, "continue");
  const remaining = fieldOf(metadata, "remainingItemCount");
  if (typeof resourceVersion !== "string" || resourceVersion === "") return undefined;
  return {
    event: { kind: "page", resourceVersion, ...(typeof next === "string" && next !== "" ? { next } : {}) },
    remaining: typeof remaining === "number" ? remaining : 0,
  };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
