/** What a speaker has written stays as it wrote it: labels and owner that others take off come back. */
import { expect } from "chai";
import { NODE_LABELS } from "../../api/annotations.ts";
import { type Scene, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import { pathOf, type Resource } from "../support/resource-path.ts";
import { together } from "../support/together.ts";

interface Written {
  readonly metadata: {
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
}

describe("what a speaker has written", () => {
  const scene = useScene();

  together(scene, {
    "a ServiceL2Status gets its labels and its owner back": async (trial) => {
      // No other node may lead: a leader of the first second, that heard of it before the first by hash did, loses its status.
      const [node = ""] = scene().nodes;
      await trial.start({}, { nodeSelectors: [{ matchLabels: { [NODE_LABELS.hostname]: node } }] });
      const found = await trial.until("its status", 20_000, async () => {
        const [status] = await trial.l2Statuses();
        return status?.status?.node === node && status;
      });
      await comesBack(scene(), "ServiceL2Status", found.metadata.name, "metallb.io/node");
    },
    "a ConfigurationState gets its labels and its owner back": () =>
      comesBack(scene(), "ConfigurationState", "speaker-n2", "metallb.io/component-type"),
  });
});

async function comesBack(scene: Scene, kind: string, name: string, label: string): Promise<void> {
  const metadata = { name, namespace: SPEAKER_NAMESPACE };
  const resource: Resource = { apiVersion: "metallb.io/v1beta1", kind, metadata };
  const read = () => scene.call<Written>({ method: "GET", path: pathOf(resource) });
  const before = await read();
  expect(before.metadata.labels).to.have.property(label);
  expect(before.metadata.ownerReferences).to.have.length(1);
  await scene.patch(resource, { metadata: { labels: { [label]: null }, ownerReferences: null } });
  const after = await scene.kube.until(`${kind} as before`, async () => {
    const now = await read();
    return now.metadata.ownerReferences !== undefined && now;
  });
  expect(after.metadata.uid).to.equal(before.metadata.uid);
  expect(after.metadata.labels).to.deep.equal(before.metadata.labels);
  expect(after.metadata.ownerReferences).to.deep.equal(before.metadata.ownerReferences);
}
