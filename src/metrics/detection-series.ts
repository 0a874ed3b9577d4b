/** What fast detection and the fence did (DESIGN D7), as series: every label from the start. */
import { Counter, type Registry } from "prom-client";
import type { DetectionCounters } from "./counters.ts";

export function createDetectionSeries(registry: Registry): (counters: DetectionCounters) => void {
  const registers = [registry];
  const labelled = <Label extends string>(name: string, help: string, label: Label) =>
    new Counter({ name, help, labelNames: [label], registers });
  const plain = (name: string, help: string) => new Counter({ name, help, registers });
  const accusations = labelled(
    "arpeggio_gossip_accusations_total",
    "Leaders that this node accused: silent with their host, hung while it answers, or with a port that refused.",
    "evidence",
  );
  const accusationsOverruled = plain(
    "arpeggio_gossip_accusations_overruled_total",
    "Of those, how many showed a sign of life before a verdict.",
  );
  const verdicts = plain(
    "arpeggio_gossip_fast_verdicts_total",
    "Leaders that this node held dead because two had accused them, or because it alone could.",
  );
  const verdictsOverruled = plain(
    "arpeggio_gossip_verdicts_overruled_total",
    "Of those, how many refuted it within 10 s: they lived, or were started again.",
  );
  const verdictsBraked = plain(
    "arpeggio_gossip_verdicts_braked_total",
    "Verdicts that waited because this node had just given as many as it may.",
  );
  const fences = labelled(
    "arpeggio_speaker_fences_total",
    "How often this node fell mute until it had heard whether it still leads: after a gap of its own, or without watchers.",
    "cause",
  );
  return (counters) => {
    for (const series of [accusations, accusationsOverruled, verdicts, verdictsOverruled, verdictsBraked, fences]) {
      series.reset();
    }
    for (const evidence of ["silent", "hung", "refused"] as const) {
      accusations.inc({ evidence }, counters.accusations[evidence]);
    }
    accusationsOverruled.inc(counters.accusationsOverruled);
    verdicts.inc(counters.verdicts);
    verdictsOverruled.inc(counters.verdictsOverruled);
    verdictsBraked.inc(counters.verdictsBraked);
    for (const cause of ["gap", "unwatched"] as const) fences.inc({ cause }, counters.fences[cause]);
  };
}
