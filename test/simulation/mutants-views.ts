/** Speakers with one fault in how they deal with views that differ: each for one of the invariants 8, 9 and 10. */
import { Council } from "../../speaker/council.ts";
import type { NodeWord } from "../../src/election/word.ts";
import type { Mutant } from "./mutants.ts";

export const VIEW_MUTANTS: readonly Mutant[] = [
  {
    name: "hears no claim",
    invariant: 8,
    scenario: "views",
    seed: 1,
    speaker: ({ announcer }) => {
      const handle = announcer.handle.bind(announcer);
      announcer.handle = (event, nowMs) => {
        if (event.kind !== "messages") return handle(event, nowMs);
        return handle({ ...event, messages: event.messages.filter(({ kind }) => kind !== "claim") }, nowMs);
      };
    },
  },
  {
    name: "waits for a leader that does not lead",
    invariant: 9,
    scenario: "views",
    seed: 1,
    speaker: ({ orphans }) => {
      orphans.tick = () => false;
      orphans.deadlineMs = () => undefined;
    },
  },
  {
    name: "takes back at once what it led before it was gone",
    invariant: 10,
    scenario: "failover",
    seed: 1,
    speaker: ({ council }) => {
      council.word = (nowMs) => {
        const word: NodeWord = Council.prototype.word.call(council, nowMs);
        return { ...word, flags: word.flags.filter((flag) => flag !== "settling") };
      };
    },
  },
];
