/** A configuration that goes bad and is mended, by kubectl as a user has it: it is said, and nothing that is announced moves. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { NODE_LABELS } from "../../api/annotations.ts";
import { SecondWatcher } from "../../hack/kube-cluster/drills/second-watcher.ts";
import { readStatus } from "../../hack/kube-cluster/drills/speakers.ts";
import { monotonicMs } from "../../hack/netlab/monotonic-ms.ts";
import type { FrameRecord } from "../../hack/netlab/observations.ts";
import type { Ip } from "../../src/net/ip.ts";
import { type Scene, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import { collectionPath, type Resource } from "../support/resource-path.ts";
import { alone } from "../support/together.ts";

const OLDER_RANGE = "2001:db8::7:10-2001:db8::7:2f";
const IN_BOTH = "2001:db8::7:20" as Ip;
const YOUNGER_RANGE = "2001:db8::7:100-2001:db8::7:1ff";
const IN_YOUNGER = "2001:db8::7:100" as Ip;
/** Admission lets it pass: it compares no IPv6 ranges. */
const OVERLAPPING_RANGE = "2001:db8::7:18-2001:db8::7:40";
const TAKEN_OVER_MS = 5_500;
/** What the last change leads to is seen within this. */
const AFTERWARDS_MS = 1_500;
/** creationTimestamp counts seconds. */
const OLDER_BY_MS = 1_100;

interface ConfigurationState {
  readonly status?: { readonly result?: string; readonly errorSummary?: string };
}

describe("a configuration that is good, then bad, then good", () => {
  const scene = useScene();

  alone(scene, "is Valid, Invalid and Valid again on every node, and announcements are untouched", async (trial) => {
    // By age the first stands, though by name it would be the second.
    const older = poolOf(`${trial.name}-z`, [`${trial.ipv4}/32`, OLDER_RANGE]);
    const good = poolOf(`${trial.name}-a`, [YOUNGER_RANGE]);
    const bad = poolOf(`${trial.name}-a`, [YOUNGER_RANGE, OVERLAPPING_RANGE]);
    const [leader = "", elsewhere = ""] = trial.hashOrder();
    // If the younger pool took the address, another node would answer.
    const onElsewhere = { nodeSelectors: [{ matchLabels: { [NODE_LABELS.hostname]: elsewhere } }] };
    await kubectlApply(trial, [older]);
    await sleep(OLDER_BY_MS);
    await kubectlApply(trial, [
      older,
      good,
      trial.advertisement({ ipAddressPools: [older.metadata.name] }, "-z"),
      trial.advertisement({ ipAddressPools: [good.metadata.name], ...onElsewhere }, "-a"),
    ]);
    await trial.apply(trial.service(), trial.service({ suffix: "-b" }));
    await trial.assign("", [trial.ipv4, IN_BOTH]);
    await trial.assign("-b", [IN_YOUNGER]);
    await answers(trial, IN_BOTH, leader);
    await answers(trial, IN_YOUNGER, elsewhere);
    const before = await trial.until("what is announced is written back", 20_000, () => writtenBack(trial));

    const { client } = scene().kube.cluster.topology;
    const watchers = [IN_BOTH, IN_YOUNGER].map((address) => new SecondWatcher(client, "eth0", address));
    try {
      for (const watcher of watchers) watcher.start();
      // What a take-over announces is repeated for 4.4 s.
      await sleep(TAKEN_OVER_MS);
      await saysEverywhere(scene(), "Valid");
      const goodMs = monotonicMs();

      await kubectlApply(trial, [older, bad]);
      for (const sentence of await saysEverywhere(scene(), "Invalid")) {
        expect(sentence).to.include(
          `IPAddressPool ${SPEAKER_NAMESPACE}/${bad.metadata.name}: spec.addresses[1] is "${OVERLAPPING_RANGE}": ` +
            `overlaps with already defined CIDR "${OLDER_RANGE}" of IPAddressPool ${older.metadata.name}`,
        );
      }
      const status = await trial.until("the leader's /status says it", 20_000, async () => {
        const document = await readStatus(scene().kube.node(leader));
        return document?.sources[0]?.problems.some((one) => one.includes(OVERLAPPING_RANGE)) === true && document;
      });
      const address = status.addresses.find((one) => one.address === IN_BOTH);
      expect(address).to.deep.include({ state: "leading", leader });
      expect(status.writtenBack?.objects.missingRights).to.deep.equal([]);
      const badMs = monotonicMs();

      await kubectlApply(trial, [older, good]);
      expect(await saysEverywhere(scene(), "Valid")).to.deep.equal(["", "", ""]);
      const goodAgainMs = monotonicMs();
      await sleep(AFTERWARDS_MS);

      const frames = await Promise.all(watchers.map((watcher) => watcher.finish()));
      for (const [index, node] of [leader, elsewhere].entries()) {
        const { mac } = scene().kube.node(node);
        expectUntouched(frames[index] ?? [], mac, [goodMs, badMs, goodAgainMs]);
      }
      expect(await writtenBack(trial)).to.deep.equal(before);
    } finally {
      for (const watcher of watchers) watcher.close();
    }
  });
});

/** As a user does it; they go with the trial. */
async function kubectlApply(trial: Trial, resources: readonly Resource[]): Promise<void> {
  trial.goesWithIt(...resources);
  await trial.scene.kube.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: resources }));
}

function poolOf(name: string, addresses: readonly string[]): Resource {
  return {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name, namespace: SPEAKER_NAMESPACE },
    spec: { addresses, autoAssign: false },
  };
}

async function answers(trial: Trial, address: Ip, node: string): Promise<void> {
  await trial.until(`${node} answers for ${address}`, 20_000, async () => {
    const answering = await trial.scene.answering(address);
    return answering.length === 1 && answering[0] === node;
  });
}

/** What is said of both Services once all of it is: whose status it is, by which object, and how many events there are. */
async function writtenBack(trial: Trial): Promise<unknown> {
  const suffixes = ["", "-b"];
  const statuses = (await Promise.all(suffixes.map((suffix) => trial.l2Statuses(suffix)))).flat();
  const reasons = ["nodeAssigned", "notAnnounced", "announceFailed"];
  const events = await Promise.all(
    reasons.map((reason) => Promise.all(suffixes.map(async (suffix) => (await trial.events(reason, suffix)).length))),
  );
  const isWhole = statuses.length === suffixes.length && events[0]?.every((count) => count > 0) === true;
  return isWhole && { events, statuses: statuses.map(({ metadata, status }) => [metadata.name, status?.node]) };
}

/** Until every node's ConfigurationState has the result; gives their summaries. */
function saysEverywhere(scene: Scene, result: string): Promise<readonly string[]> {
  const folder = collectionPath("metallb.io/v1beta1", "ConfigurationState", SPEAKER_NAMESPACE);
  const paths = scene.nodes.map((node) => `${folder}/speaker-${node}`);
  return scene.kube.until(`every ConfigurationState says ${result}`, async () => {
    const states = await Promise.all(paths.map((path) => scene.call<ConfigurationState>({ method: "GET", path })));
    return (
      states.every(({ status }) => status?.result === result) && states.map(({ status }) => status?.errorSummary ?? "")
    );
  });
}

/** From each of these times to the next: answers to probes, by that MAC alone. And nothing that nobody asked for, as whoever takes an address sends it. */
function expectUntouched(all: readonly FrameRecord[], mac: string, timesMs: readonly number[]): void {
  const [firstMs = 0] = timesMs;
  const frames = all.filter(({ atMs }) => atMs >= firstMs);
  expect([...new Set(frames.map((frame) => frame.mac))]).to.deep.equal([mac]);
  expect(frames.filter(({ probe }) => probe === undefined)).to.deep.equal([]);
  for (const [index, fromMs] of timesMs.entries()) {
    const toMs = timesMs[index + 1] ?? Number.POSITIVE_INFINITY;
    expect(frames.some(({ atMs }) => atMs >= fromMs && atMs < toMs)).to.equal(true);
  }
}
