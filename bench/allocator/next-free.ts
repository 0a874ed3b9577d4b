/**
 * The next free address of a /64 with 100,000 used ones, found, taken and given back, beside a walk over the used ones from the first.
 * `node dist/bench/allocator/next-free.js`
 */
import { AddressSet } from "../../src/allocator/address-set.ts";
import { lowestFree } from "../../src/allocator/free-address.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { type Ip, ipOfBigInt, ipToBigInt } from "../../src/net/ip.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";

const USED = 100_000;
const ROUNDS = 1_000;
const WALKS = 5;

const prefix = parsePrefix("2001:db8::/64");
if (prefix === undefined) throw new Error("a prefix");
const pool = { ranges: [rangeOfPrefix(prefix)], avoidsBuggyIps: false };
const first = ipToBigInt("2001:db8::" as Ip);
const at = (number: number): Ip => ipOfBigInt(first + BigInt(number), 6);

const random = new SeededRandom(1);
const scattered = Array.from({ length: USED }, () => at(random.below(2 * USED)));

for (const { name, used } of [
  { name: "one after the other", used: new AddressSet(Array.from({ length: USED }, (_, number) => at(number))) },
  { name: "scattered over the first 200,000", used: new AddressSet(scattered) },
]) {
  const sets = [used, new AddressSet()];
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const beganMs = performance.now();
    const free = lowestFree(pool, 6, sets);
    if (free === undefined) throw new Error("it is not full");
    used.add(free);
    used.delete(free);
    times.push(performance.now() - beganMs);
  }
  let walkedMs = 0;
  for (let walk = 0; walk < WALKS; walk++) {
    const beganMs = performance.now();
    let number = 0;
    while (sets.some((set) => set.has(at(number)))) number++;
    walkedMs += (performance.now() - beganMs) / WALKS;
  }
  times.sort((a, b) => a - b);
  const middle = times[ROUNDS / 2] ?? 0;
  const worst = times.at(-1) ?? 0;
  process.stdout.write(
    `${name}: median ${middle.toFixed(4)} ms, worst of ${ROUNDS} ${worst.toFixed(3)} ms; a walk takes ${walkedMs.toFixed(0)} ms\n`,
  );
}
