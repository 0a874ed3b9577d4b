/**
 * MetalLB's series of what its speaker announces by layer 2, under MetalLB's names, so that dashboards and alerts go on working.
 * Only the leader of an address has them; they are gone with the leadership.
 */
import type { AddressSeries, Sample } from "./address-series.ts";

const LEADING = "leading";

/** A request that its leader hears it answers. */
const requests: AddressSeries["samplesOf"] = ({ address: ip, state, requestsAnswered }) =>
  counted(ip, state, requestsAnswered);

export const METALLB_SERIES: readonly AddressSeries[] = [
  {
    name: "metallb_speaker_announced",
    help: "1 for each address of a Service that this node announces; absent for others.",
    type: "gauge",
    samplesOf: ({ address: ip, state, services }, node) =>
      state === LEADING
        ? services.map((service) => ({ labels: { service, protocol: "layer2", node, ip }, value: 1 }))
        : [],
  },
  {
    name: "metallb_layer2_requests_received",
    help: "ARP and Neighbor Discovery requests for the address.",
    type: "counter",
    samplesOf: requests,
  },
  { name: "metallb_layer2_responses_sent", help: "Answers to them.", type: "counter", samplesOf: requests },
  {
    name: "metallb_layer2_gratuitous_sent",
    help: "Frames for the address that nobody had asked for.",
    type: "counter",
    samplesOf: ({ address: ip, state, announcementsSent = 0 }) => counted(ip, state, announcementsSent),
  },
];

function counted(ip: string, state: string, value: number): readonly Sample[] {
  return state === LEADING ? [{ labels: { ip }, value }] : [];
}
