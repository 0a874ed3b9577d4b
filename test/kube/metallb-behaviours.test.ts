/** What MetalLB's own tests ask of any speaker, and tools rely on: reachability, statuses, events, sharing, what is refused. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { SCENE_NAMESPACE, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import { collectionPath, type Resource } from "../support/resource-path.ts";
import { alone, together } from "../support/together.ts";

const STABLE_MS = 5_000;
const CONFIGURATION_STATE = { apiVersion: "metallb.io/v1beta1", kind: "ConfigurationState" };

interface ConfigurationState {
  readonly metadata: {
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly managedFields: readonly { readonly manager: string; readonly subresource?: string }[];
  };
  readonly status?: { readonly result?: string; readonly errorSummary?: string };
}

describe("MetalLB's behaviours", () => {
  const scene = useScene();

  together(scene, {
    "an address of policy Cluster is reachable, in both families": async (trial) => {
      await trial.start();
      await reachable(trial);
    },

    "a led Service has one ServiceL2Status, whose node is that of the newest nodeAssigned event and stays; it goes with the Service":
      async (trial) => {
        await trial.start();
        const leader = await trial.ledByFirst();
        await trial.until("one status names the leader", 20_000, () => hasOneStatus(trial, leader));
        const events = await trial.until("an event", 20_000, async () => {
          const found = await trial.events("nodeAssigned");
          return found.length > 0 && found;
        });
        expect(events.at(-1)).to.include({ type: "Normal" });
        expect(events.at(-1)?.source.component).to.equal("metallb-speaker");
        expect(events.at(-1)?.message).to.include(`announcing from node "${leader}" with protocol "layer2"`);
        const endMs = performance.now() + STABLE_MS;
        while (performance.now() < endMs) {
          expect(await hasOneStatus(trial, leader)).to.equal(true);
          await sleep(500);
        }
        await trial.remove(trial.service());
        await trial.until("no status is left", 20_000, async () => (await trial.l2Statuses()).length === 0);
      },

    "an address of policy Local is answered from a pod on the node whose MAC answers": async (trial) => {
      await trial.start({ policy: "Local", selector: { on: "n2" } });
      expect(await trial.ledBy(["n2"])).to.equal("n2");
      await reachable(trial);
      for (let request = 0; request < 5; request++) {
        expect(await scene().kube.request(`http://${trial.ipv4}/`)).to.deep.equal({ pod: "web-n2", node: "n2" });
      }
    },

    "TCP and UDP are served on one address": async (trial) => {
      const ports = [
        { name: "tcp", port: 80, protocol: "TCP" },
        { name: "udp", port: 80, protocol: "UDP" },
      ] as const;
      await trial.start({ ports });
      await reachable(trial);
      for (const host of [trial.ipv4, `[${trial.ipv6}]`]) {
        await trial.until(`${host} answers by UDP`, 20_000, () => scene().kube.request(`udp://${host}:80`));
      }
    },

    "two Services on one address have one leader, and say so in one sentence": async (trial) => {
      const annotations = { "metallb.io/allow-shared-ip": trial.name };
      const second = { suffix: "-b", annotations, ports: [{ port: 81 }] };
      await trial.apply(trial.pool(), trial.advertisement(), trial.service({ annotations }), trial.service(second));
      await Promise.all([trial.assign(), trial.assign("-b")]);
      const leader = await trial.ledByFirst();
      for (const suffix of ["", "-b"]) {
        await trial.until(`the newest event of ${trial.name}${suffix} names ${leader}`, 20_000, async () => {
          return (await assignedNode(trial, suffix)) === leader;
        });
      }
      await reachable(trial);
      await trial.until("the second answers", 20_000, () => scene().kube.request(`http://${trial.ipv4}:81/`));
    },

    "a Service of a foreign loadBalancerClass is left alone: no answer, status or event": async (trial) => {
      await trial.start({ loadBalancerClass: "example.org/other" });
      await trial.staysSilent(3_000);
      expect(await trial.l2Statuses()).to.deep.equal([]);
      for (const reason of ["nodeAssigned", "notAnnounced", "announceFailed"]) {
        expect(await trial.events(reason), reason).to.deep.equal([]);
      }
    },

    "pools and advertisements in another namespace are refused": async (trial) => {
      for (const resource of [trial.pool(), trial.advertisement()]) {
        const elsewhere = { ...resource, metadata: { name: trial.name, namespace: SCENE_NAMESPACE } };
        expect(await scene().refusal(elsewhere)).to.include(
          `resource must be created in ${SPEAKER_NAMESPACE} namespace`,
        );
      }
    },

    "a pool that overlaps another is refused, and the phrase names both": async (trial) => {
      await trial.apply(trial.pool());
      const overlapping = poolOf(`${trial.name}-b`, [`${trial.ipv4}-${trial.ipv4}`]);
      // Admission hears of the first by a watch of its own.
      const sentence = await trial.until("it is refused", 20_000, () => scene().refusal(overlapping));
      expect(sentence).to.include("overlaps with already defined CIDR");
      expect(sentence).to.include(`"${trial.name}"`).and.to.include(`"${trial.name}-b"`);
    },

    "ConfigurationState carries MetalLB's labels and field owners, and is made again when it is deleted": async (
      trial,
    ) => {
      const state = stateOf("n1");
      const before = await scene().call<ConfigurationState>({ method: "GET", path: state });
      expect(before.metadata.labels).to.deep.include({
        "metallb.io/component-type": "speaker",
        "metallb.io/node-name": "n1",
      });
      const owners = before.metadata.managedFields.filter(({ subresource }) => subresource === "status");
      expect(owners.map(({ manager }) => manager)).to.include("configReconciler");
      await scene().call({ method: "DELETE", path: state });
      await trial.until("it is back", 20_000, async () => {
        const { status, body } = await scene().request({ method: "GET", path: state });
        const { metadata, status: content } = body as ConfigurationState;
        return status === 200 && metadata.uid !== before.metadata.uid && content?.result !== undefined;
      });
    },
  });

  alone(scene, "an invalid resource is said in ConfigurationState, and it heals when that goes", async (trial) => {
    // Admission lets it pass: it compares no IPv6 ranges.
    const first = poolOf(trial.name, ["2001:db8::6:1-2001:db8::6:20"]);
    const younger = poolOf(`${trial.name}-b`, ["2001:db8::6:10-2001:db8::6:30"]);
    await trial.apply(first);
    await trial.apply(younger);
    const state = stateOf("n1");
    const invalid = await trial.until("it is invalid", 20_000, async () => {
      const { status } = await scene().call<ConfigurationState>({ method: "GET", path: state });
      return status?.result === "Invalid" && status;
    });
    expect(invalid.errorSummary).to.include(younger.metadata.name);
    await trial.remove(younger);
    await trial.until("it is valid again", 20_000, async () => {
      const { status } = await scene().call<ConfigurationState>({ method: "GET", path: state });
      return status?.result === "Valid" && status.errorSummary === "";
    });
  });

  async function reachable(trial: Trial): Promise<void> {
    for (const host of [trial.ipv4, `[${trial.ipv6}]`]) {
      await trial.until(`${host} answers`, 20_000, () => scene().kube.request(`http://${host}/`));
    }
  }
});

function poolOf(name: string, addresses: readonly string[]): Resource {
  return {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name, namespace: SPEAKER_NAMESPACE },
    spec: { addresses, autoAssign: false },
  };
}

function stateOf(node: string): string {
  const { apiVersion, kind } = CONFIGURATION_STATE;
  return `${collectionPath(apiVersion, kind, SPEAKER_NAMESPACE)}/speaker-${node}`;
}

async function hasOneStatus(trial: Trial, leader: string): Promise<boolean> {
  const statuses = await trial.l2Statuses();
  return statuses.length === 1 && statuses[0]?.status?.node === leader;
}

/** The node in quotes in the newest event. */
async function assignedNode(trial: Trial, suffix: string): Promise<string | undefined> {
  const newest = (await trial.events("nodeAssigned", suffix)).at(-1);
  return /announcing from node "([^"]+)"/.exec(newest?.message ?? "")?.[1];
}
