/** The events that Arpeggio writes: which reason, which sentence (MetalLB's where it has one, because tools search them). Pure. */
import type { ServiceReport } from "./service-report.ts";

export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: "nodeAssigned" | "announceFailed" | "notAnnounced" | "bgpNotServed";
  readonly message: string;
}

/** What there is to say of a report that is news. */
export function eventTexts(report: ServiceReport, node: string): readonly EventText[] {
  switch (report.kind) {
    case "leading": {
      const where = `${report.addresses.join(", ")} on ${report.links.map((link) => link.name).join(", ")}`;
      const before = report.previousNode === undefined ? "" : `; before: ${report.previousNode}`;
      // Only the new node stands in quotes: tools search the message for the name in quotes.
      const message = `announcing from node "${node}" with protocol "layer2": ${where}${before}; reason: ${report.reason}`;
      return [{ type: "Normal", reason: "nodeAssigned", message }];
    }
    case "no-link":
      return report.addresses.map((address) => {
        const message = `the interfaces specified by LB IP "${address}" doesn't exist in assigned node "${node}" with protocol "layer2"`;
        return { type: "Warning", reason: "announceFailed", message };
      });
    case "not-announced":
      return [{ type: "Warning", reason: "notAnnounced", message: report.sentence }];
    default:
      return report satisfies never;
  }
}

export function bgpNotServedText(kind: string, name: string): EventText {
  return { type: "Warning", reason: "bgpNotServed", message: `${kind} ${name} is not served by Arpeggio` };
}
