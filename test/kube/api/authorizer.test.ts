/** Who reads the metrics, as a real API server says it: the HTTPS listener, the authorizer and components/prometheus together. */
import { request as httpsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { createLog } from "../../../src/base/log.ts";
import { type HttpsMetricsServer, openMetricsServer } from "../../../src/http/metrics-server.ts";
import { makeSelfSigned } from "../../../src/http/self-signed.ts";
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { KubernetesAuthorizer } from "../../../src/kube/authorizer.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { parseIp } from "../../../src/net/ip.ts";
import { SystemRandom } from "../../../src/sys/system-random.ts";
import { useControlPlane } from "../../support/control-plane.ts";

const NAMESPACE = "metallb-system";
const SPEAKER = {
  name: `system:serviceaccount:${NAMESPACE}:arpeggio-speaker`,
  groups: ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"],
  token: "speaker-token",
};
const READER = "prometheus";
const OTHER = "mallory";
const BINDING = "test-metrics-reader";
const METRICS = "example 1\n";
const REMEMBERED_MS = 60_000;
const LOOPBACK = parseIp("127.0.0.1") ?? expect.fail();

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe("metrics over HTTPS, with a real API server as the judge", function () {
  this.timeout(120_000);
  // Before the control plane's own end.
  after(() => stop?.());
  const plane = useControlPlane({ users: [SPEAKER] });
  let server: HttpsMetricsServer;
  let stop: (() => Promise<void>) | undefined;
  /** Resources of the reviews that the speaker has asked for. */
  let asked: string[] = [];
  let tokens: Readonly<Record<typeof READER | typeof OTHER, string>>;
  /** Time that the authorizer believes has passed beside the real one. */
  let skippedMs = 0;

  before(async () => {
    const kubectl = plane().kubectl.bind(plane());
    await kubectl(["apply", "-f", "manifests/crd/namespace.yaml"]);
    await kubectl([
      "apply",
      "-n",
      NAMESPACE,
      ...["service-accounts", "rbac"].flatMap((name) => ["-f", `manifests/base/${name}.yaml`]),
    ]);
    for (const name of [READER, OTHER]) await kubectl(["create", "serviceaccount", name]);
    const token = async (name: string) => (await kubectl(["create", "token", name])).trim();
    tokens = { [READER]: await token(READER), [OTHER]: await token(OTHER) };
    const api = await openApiServer({ kubeconfig: plane().kubeconfig(SPEAKER.name) });
    const counted: Pick<ApiServer, "request" | "refreshCredentials"> = {
      request: (request) => {
        asked.push(request.path.slice(request.path.lastIndexOf("/") + 1));
        return api.request(request);
      },
      refreshCredentials: () => api.refreshCredentials(),
    };
    const authorizer = new KubernetesAuthorizer({
      api: counted,
      path: "/metrics",
      nowMs: () => performance.now() + skippedMs,
    });
    const random = new SystemRandom();
    const certificate = makeSelfSigned({
      nodeName: "n1",
      ips: [LOOPBACK],
      wallMs: Date.now(),
      keyKind: "ecdsa",
      random,
    });
    const ports = {
      metrics: () => Promise.resolve(METRICS),
      log: createLog("none", () => undefined, Date.now),
      authorizer,
    };
    server = await openMetricsServer(ports, { ip: LOOPBACK, port: 0 }, certificate, { minVersion: "TLSv1.3" });
    stop = async () => {
      await server.close();
      api.close();
    };
  });

  function get(token: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const options = {
        host: LOOPBACK,
        port: server.port,
        path: "/metrics",
        headers,
        rejectUnauthorized: false,
        agent: false,
      };
      const question = httpsRequest(options, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, body }));
      });
      question.once("error", reject).end();
    });
  }

  it("without the right to ask, the speaker says which one it lacks, to everybody", async () => {
    const { status, body } = await get(tokens[READER]);
    expect(status).to.equal(503);
    expect(body).to.match(
      /^the API server does not say who may read this: tokenreviews\.authentication\.k8s\.io is forbidden: /,
    );
    expect(body).to.include(`User "${SPEAKER.name}" cannot create resource "tokenreviews"`);
    expect(await get(tokens[READER]), "the next one is answered, too").to.include({ status });
  });

  it("a ServiceAccount with `get` on /metrics reads them, once components/prometheus is applied", async () => {
    await plane().kubectl(["apply", "-n", NAMESPACE, "-f", "manifests/components/prometheus/rbac.yaml"]);
    await plane().kubectl(["apply", "-f", "manifests/components/prometheus/reader.yaml"]);
    const subject = `--serviceaccount=default:${READER}`;
    await plane().kubectl(["create", "clusterrolebinding", BINDING, "--clusterrole=arpeggio-metrics-reader", subject]);
    // The API server learns of roles from a watch of its own; until then a refusal is remembered.
    expect(await untilStatus(200, READER)).to.equal(METRICS);
  });

  it("one without is refused by name", async () => {
    const { status, body } = await get(tokens[OTHER]);
    expect({ status, body }).to.deep.equal({
      status: 403,
      body: `system:serviceaccount:default:${OTHER} may not get /metrics\n`,
    });
  });

  for (const { name, token } of [
    { name: "that nobody issued", token: "nonsense" },
    { name: "whose signature is wrong", token: undefined },
  ]) {
    it(`a token ${name} is unknown`, async () => {
      const forged = tokens[READER].replace(/\.[^.]*$/, `.${"A".repeat(342)}`);
      const { status, body } = await get(token ?? forged);
      expect({ status, body }).to.deep.equal({ status: 401, body: "a token that the cluster knows is needed\n" });
    });
  }

  it("what was said counts for 60 s, and is asked anew then", async () => {
    skippedMs += REMEMBERED_MS;
    asked = [];
    for (const time of ["first", "second", "third"]) {
      expect(await get(tokens[READER]), time).to.include({ status: 200 });
    }
    expect(asked).to.deep.equal(["tokenreviews", "subjectaccessreviews"]);
    skippedMs += REMEMBERED_MS;
    expect(await get(tokens[READER])).to.include({ status: 200 });
    expect(asked).to.have.length(4);
  });

  it("a right that is taken away is gone with the next asking", async () => {
    await plane().kubectl(["delete", "clusterrolebinding", BINDING]);
    expect(await get(tokens[READER]), "remembered").to.include({ status: 200 });
    expect(await untilStatus(403, READER)).to.include(`default:${READER} may not get /metrics`);
  });

  it("while the API server is away, nobody is let in anew, and it says why", async () => {
    skippedMs += REMEMBERED_MS;
    await plane().stopApiServer();
    const { status, body } = await get(tokens[OTHER]);
    expect(status).to.equal(503);
    expect(body).to.match(/ECONNREFUSED|ECONNRESET|socket hang up/);
    await plane().startApiServer();
    await untilStatus(403, OTHER);
  });

  /** Asks until the answer has that status, as if what was said before were 60 s old each time. Returns the body. */
  async function untilStatus(wanted: number, account: typeof READER | typeof OTHER): Promise<string> {
    const deadlineMs = performance.now() + 30_000;
    for (;;) {
      skippedMs += REMEMBERED_MS;
      const { status, body } = await get(tokens[account]);
      if (status === wanted) return body;
      if (performance.now() > deadlineMs) throw new Error(`never ${wanted} but ${status}: ${body}`);
      await sleep(100);
    }
  }
});
