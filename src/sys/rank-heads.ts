/** The hashes by which the election ranks nodes, by the addon: a third of what they cost in JavaScript. */
import type { RankHeads } from "../election/rank-hash.ts";
import { addon } from "./addon.ts";

/** Of a node's name and the sign behind it: with an IPv6 address that is two blocks of SHA-256. */
const START_BYTES = 80;
/** Fewer are worked out faster where they are. */
const LEAST_NODES = 4;

/** @param slow works out few hashes, and those of names that are too long here */
export function nativeRankHeads(slow: RankHeads): RankHeads {
  const encoder = new TextEncoder();
  let encoded: readonly string[] | undefined;
  let starts = new Uint8Array(0);
  let lengths = new Uint8Array(0);
  let isTooLong = false;

  function encode(nodes: readonly string[]): void {
    const texts = nodes.map((node) => encoder.encode(`${node}#`));
    encoded = nodes;
    isTooLong = texts.some(({ length }) => length > START_BYTES);
    lengths = Uint8Array.from(texts, ({ length }) => length);
    starts = new Uint8Array(START_BYTES * texts.length);
    if (isTooLong) return;
    for (const [index, text] of texts.entries()) starts.set(text, START_BYTES * index);
  }

  return (nodes, key, heads, from) => {
    if (nodes.length - from < LEAST_NODES) return slow(nodes, key, heads, from);
    // The same list only grows.
    if (encoded !== nodes || lengths.length !== nodes.length) encode(nodes);
    if (isTooLong) return slow(nodes, key, heads, from);
    addon.rankHeads(starts, lengths, key, heads);
  };
}
