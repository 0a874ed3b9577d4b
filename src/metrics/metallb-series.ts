/**
 * MetalLB's series of what its speaker announces by layer 2, under MetalLB's names, so that dashboards and alerts go on working.
 * Only the leader of an address has them; they are gone with the leadership.
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { StatusDocument } from "../../api/status.ts";

export function createMetallbSeries(registry: Registry): (status: StatusDocument) => void {
  const registers = [registry];
  const announced = new Gauge({
    name: "metallb_speaker_announced",
    help: "1 for each address of a Service that this node announces; absent for others.",
    labelNames: ["service", "protocol", "node", "ip"],
    registers,
  });
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: ["ip"], registers });
  const received = counter("metallb_layer2_requests_received", "ARP and Neighbor Discovery requests for the address.");
  const sent = counter("metallb_layer2_responses_sent", "Answers to them.");
  const gratuitous = counter("metallb_layer2_gratuitous_sent", "Frames for the address that nobody had asked for.");
  return ({ node, addresses }) => {
    announced.reset();
    for (const series of [received, sent, gratuitous]) series.reset();
    for (const { address: ip, state, services, requestsAnswered, announcementsSent = 0 } of addresses) {
      if (state !== "leading") continue;
      for (const service of services) announced.set({ service, protocol: "layer2", node, ip }, 1);
      // A request that its leader hears it answers.
      received.inc({ ip }, requestsAnswered);
      sent.inc({ ip }, requestsAnswered);
      gratuitous.inc({ ip }, announcementsSent);
    }
  };
}
