/**
 * Series of each address that this node answers for. There may be thousands, and each scrape makes them anew: they are written as
 * Prometheus' text (format version 0.0.4) at once, some at a time, and stand in no registry. Pure.
 */
import type { StatusDocument } from "../../api/status.ts";

type Address = StatusDocument["addresses"][number];
type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface AddressSeries {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  /** Of one address, on the node of this name. */
  readonly samplesOf: (address: Address, node: string) => readonly Sample[];
}

/** About a millisecond. */
const ADDRESSES_AT_ONCE = 1_000;

const ANSWERED_FOR: readonly string[] = ["leading", "handing-over"];

export const OWN_SERIES: readonly AddressSeries[] = [
  {
    name: "arpeggio_announcer_leader",
    help: "1 for each address that this node answers for; absent for others.",
    type: "gauge",
    samplesOf: ({ address, state }) => (ANSWERED_FOR.includes(state) ? [{ labels: { address }, value: 1 }] : []),
  },
  {
    name: "arpeggio_announcer_requests_answered_total",
    help: "ARP and Neighbor Discovery requests answered, of addresses that this node answers for.",
    type: "counter",
    samplesOf: ({ address, state, requestsAnswered }) =>
      ANSWERED_FOR.includes(state) ? [{ labels: { address }, value: requestsAnswered }] : [],
  },
  {
    name: "arpeggio_election_views_differ",
    help: "1 for each address that this node and another both hold themselves elected for; one of them answers. Absent for others.",
    type: "gauge",
    samplesOf: ({ address, viewsDiffer }) => (viewsDiffer === undefined ? [] : [{ labels: { address }, value: 1 }]),
  },
  {
    name: "arpeggio_election_lease_missing",
    help: "1 for each strict address that this node leads and does not answer for, because most speakers do not grant it. Absent for others.",
    type: "gauge",
    samplesOf: ({ address, state }) => (state === "no-lease" ? [{ labels: { address }, value: 1 }] : []),
  },
];

/** Whole lines, and every series with its help even if it has no sample. */
export function* formatAddressSeries(
  series: readonly AddressSeries[],
  { node, addresses }: Pick<StatusDocument, "node" | "addresses">,
): Generator<string, void, undefined> {
  for (const { name, help, type, samplesOf } of series) {
    yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (let from = 0; from < addresses.length; from += ADDRESSES_AT_ONCE) {
      let text = "";
      for (const address of addresses.slice(from, from + ADDRESSES_AT_ONCE)) {
        for (const { labels, value } of samplesOf(address, node)) text += `${name}{${formatLabels(labels)}} ${value}\n`;
      }
      yield text;
    }
  }
}

function formatLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join();
}

function escaped(value: string): string {
  return /["\\\n]/.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : value;
}
