/** `kubectl arpeggio` on a real cluster: pods by port-forward, rights that are missing, a speaker that does not answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type Ending, runCommand } from "../../cli/command.ts";
import { machineKubeconfig } from "../../hack/kube-cluster/kubectl.ts";
import { SCENE_NAMESPACE, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import { together } from "../support/together.ts";

describe("kubectl arpeggio on a cluster", () => {
  const scene = useScene();

  function arpeggio(words: readonly string[], kubeconfig = machineKubeconfig(scene().kube.cluster)): Promise<Ending> {
    return runCommand([...words, `--kubeconfig=${kubeconfig}`]);
  }

  together(scene, {
    "status and why name the node that answers": async (trial) => {
      await trial.start();
      const leader = await trial.ledByFirst();
      const why = await arpeggio(["why", trial.ipv6]);
      expect(why.output).to.include(`leader   ${leader} for `);
      expect(why.output).to.match(/\nall 3 speakers say the same\n$/);
      const ofService = await arpeggio(["why", `${SCENE_NAMESPACE}/${trial.name}`]);
      const told = [...ofService.output.matchAll(/^address {2}(\S+)\nleader {3}(\S+) for /gm)];
      expect(told.map(([, address, node]) => [address, node])).to.deep.equal([
        [trial.ipv4, leader],
        [trial.ipv6, leader],
      ]);
      const status = await trial.until("all agree", 20_000, async () => {
        const { exitCode, output } = await arpeggio(["status"]);
        return exitCode === 0 && output;
      });
      const line = status.split("\n").find((one) => one.startsWith(`${trial.ipv4} `)) ?? "";
      expect(line.split(/ +/)[1]).to.equal(leader);
      expect(line).to.include(`${SCENE_NAMESPACE}/${trial.name}`);
      expect(status).to.match(/^n2 {4}arpeggio-speaker-\S+ +yes +arpeggio-1 +3 alive +kubernetes current/m);
    },

    "a user who may list pods, but not reach them, is told which right is missing": async (trial) => {
      const account = { name: trial.name, namespace: SCENE_NAMESPACE };
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: trial.name };
      const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }];
      const apiVersion = "rbac.authorization.k8s.io/v1";
      const metadata = { name: trial.name, namespace: SPEAKER_NAMESPACE };
      await trial.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: account });
      const kubeconfig = await kubeconfigOf(trial.name);
      const refused = await arpeggio(["status"], kubeconfig);
      expect(refused.complaint).to.include(`this user may not list pods in namespace ${SPEAKER_NAMESPACE}`);
      await trial.apply(
        { apiVersion, kind: "Role", metadata, rules },
        {
          apiVersion,
          kind: "RoleBinding",
          metadata,
          roleRef,
          subjects: [{ kind: "ServiceAccount", ...account }],
        },
      );
      const told = await arpeggio(["status"], kubeconfig);
      expect(told.output.match(/it needs the verbs get and create on pods\/portforward/g)).to.have.length(3);
      expect(told.exitCode).to.equal(1);
    },

    "pods that are no speakers are told apart": async () => {
      const { exitCode, output } = await arpeggio(["status", "-n", SCENE_NAMESPACE, "-l", "app=web"]);
      expect(output.match(/gives no answer: nothing listens on its port 17472/g)).to.have.length(3);
      expect(exitCode).to.equal(1);
    },
  });

  /** The administrator's file with a token of that ServiceAccount. */
  async function kubeconfigOf(account: string): Promise<string> {
    const { kube } = scene();
    const token = (await kube.kubectl(["create", "token", account, "-n", SCENE_NAMESPACE])).trim();
    const config = JSON.parse(await kube.kubectl(["config", "view", "--raw", "-o", "json"])) as {
      readonly users: readonly { readonly name: string }[];
    };
    const file = join(kube.cluster.folder, `${account}.kubeconfig`);
    const users = config.users.map(({ name }) => ({ name, user: { token } }));
    writeFileSync(file, JSON.stringify({ ...config, users }));
    return file;
  }
});
