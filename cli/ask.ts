/** Asks speakers, several at a time, and reads what they answer. A speaker that cannot be understood is one that gives no answer. */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Clean } from "typebox/value";
import { type AddressDocument, AddressSchema } from "../api/address.ts";
import { type StatusDocument, StatusSchema } from "../api/status.ts";
import { type Decoded, decoded, dropped } from "../src/base/decoded.ts";
import { ArpeggioError } from "../src/base/errors.ts";
import type { Ip } from "../src/net/ip.ts";
import type { HttpAnswer } from "./http-get.ts";
import type { AddressAnswer, AddressReading, Reached, StatusReading } from "./readings.ts";

/** The way to one speaker. */
export interface Door {
  readonly reached: Reached;
  /** Rejects with an ArpeggioError whose message is a sentence. */
  get(path: string): Promise<HttpAnswer>;
}

/** Each costs a connection through the API server. */
const PARALLEL_DOORS = 16;

export function readStatuses(doors: readonly Door[]): Promise<StatusReading[]> {
  const understand = understanding<StatusDocument>(StatusSchema);
  return mapSome(doors, async (door) => {
    const { reached } = door;
    return { reached, answer: await answerOf(async () => understand(await door.get("/status"))) };
  });
}

export function readAddresses(doors: readonly Door[], address: Ip): Promise<AddressReading[]> {
  const understand = understanding<AddressDocument>(AddressSchema);
  return mapSome(doors, async (door) => {
    const { reached } = door;
    return { reached, answer: await answerOf(() => readAddress(door, address, understand)) };
  });
}

type Understand<Document> = (answer: HttpAnswer) => Decoded<Document, string>;

async function readAddress(
  door: Door,
  address: Ip,
  understand: Understand<AddressDocument>,
): Promise<Decoded<AddressAnswer, string>> {
  const [answer, readiness] = await Promise.all([door.get(`/status/addresses/${address}`), door.get("/readyz")]);
  const isReady = readiness.status === 200;
  if (isNoSuchAddress(answer)) return decoded({ node: door.reached.node ?? door.reached.url ?? "", isReady });
  const document = understand(answer);
  return document.ok ? decoded({ node: document.value.node, isReady, document: document.value }) : document;
}

/** Not any 404: a program that is no speaker knows no addresses either. */
function isNoSuchAddress({ status, body }: HttpAnswer): boolean {
  return status === 404 && body.includes('"ERR_HTTP_NOT_FOUND"');
}

/** Fields that a newer speaker adds are left out; anything else that does not fit is not understood. */
function understanding<Document>(schema: TSchema): Understand<Document> {
  const validator = Compile(schema);
  return ({ status, body }) => {
    if (status === 404) return dropped("it answers 404: is it a speaker of Arpeggio?");
    if (status !== 200) return dropped(`it answers ${status}: ${sentenceIn(body)}`);
    let value: unknown;
    try {
      value = Clean(schema, JSON.parse(body));
    } catch {
      return dropped("it answers something that is not JSON: is it a speaker of Arpeggio?");
    }
    if (validator.Check(value)) return decoded(value as Document);
    const [error] = validator.Errors(value);
    const where = error === undefined ? "" : ` at "${error.instancePath}", which ${error.message}`;
    return dropped(`its answer is not understood${where}; is it of another version?`);
  };
}

/** Of a fault that a speaker reports: `{"code": …, "sentence": …}`. */
function sentenceIn(body: string): string {
  const FIRST_CHARACTERS = 200;
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && "sentence" in value) return String(value.sentence);
  } catch {
    // Then the text itself.
  }
  return body.slice(0, FIRST_CHARACTERS).trim();
}

async function answerOf<Value>(ask: () => Promise<Decoded<Value, string>>): Promise<Decoded<Value, string>> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ArpeggioError) return dropped(error.message);
    throw error;
  }
}

async function mapSome<Item, Result>(items: readonly Item[], map: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: PARALLEL_DOORS }, work));
  return results;
}
