/** The command against pods, behind a stand-in for the API server; test/kube does the same on a real one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, afterEach, before } from "mocha";
import { type Ending, runCommand } from "../../cli/command.ts";
import { createLog } from "../../src/base/log.ts";
import type { HttpServer } from "../../src/http/app.ts";
import { openHttpServer } from "../../src/http/server.ts";
import type { Ip } from "../../src/net/ip.ts";
import { seenBy, statusOf } from "./documents.ts";
import { type FakeApiServer, type FakePod, startFakeApiServer } from "./fake-api-server.ts";

const LOOPBACK = "127.0.0.1" as Ip;
const MANY_ADDRESSES = 500;

/** Longer than one frame, so that pieces have to be put together. */
function openSpeaker(node: string): Promise<HttpServer> {
  const addresses = Array.from({ length: MANY_ADDRESSES }, (_, i) => seenBy(node, `2001:db8::${i.toString(16)}`));
  return openHttpServer(
    {
      version: "1.2.3",
      readStatus: () => statusOf(node, { addresses }),
      readAddress: () => undefined,
      health: () => ({ ok: true, sentence: "ok" }),
      readiness: () => ({ ok: true, sentences: [] }),
      metrics: () => Promise.resolve(""),
      setStepDown: () => undefined,
    },
    { ip: LOOPBACK, port: 0 },
    createLog("none", () => undefined, Date.now),
  );
}

describe("arpeggio, by port-forward", function () {
  // Loading the Kubernetes client from its many files takes long on a busy machine.
  this.timeout(60_000);
  const speakers: HttpServer[] = [];
  let folder = "";
  let api: FakeApiServer | undefined;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "arpeggio-cli-"));
    for (const node of ["n1", "n2", "n3"]) speakers.push(await openSpeaker(node));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await Promise.all(speakers.map((speaker) => speaker.close()));
  });
  afterEach(() => api?.close());

  function pod(index: number, changes: Partial<FakePod> = {}): FakePod {
    return {
      name: `speaker-${index}`,
      node: `n${index}`,
      forward: { port: speakers[index - 1]?.port ?? 0 },
      ...changes,
    };
  }

  function writeKubeconfig(server: string): string {
    const file = join(folder, "kubeconfig");
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "test",
        clusters: [{ name: "test", cluster: { server, "insecure-skip-tls-verify": true } }],
        users: [{ name: "test", user: {} }],
        contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
      }),
    );
    return file;
  }

  async function arpeggio(words: readonly string[], pods: readonly FakePod[], listStatus = 200): Promise<Ending> {
    api = await startFakeApiServer(pods, { listStatus });
    return runCommand([...words, `--kubeconfig=${writeKubeconfig(api.url)}`]);
  }

  it("asks every pod of every page of the list", async () => {
    const { exitCode, output } = await arpeggio(["status"], [pod(1), pod(2), pod(3)]);
    expect(output).to.match(/\nall 3 speakers answer and agree\n$/);
    expect(output.match(/^2001:db8::/gm)).to.have.length(MANY_ADDRESSES);
    expect(output).to.match(/^n3 {4}speaker-3 {2}yes /m);
    expect(exitCode).to.equal(0);
  });

  it("says of each pod why it gives no answer", async () => {
    const { exitCode, output } = await arpeggio(
      ["status"],
      [
        pod(1),
        pod(2, { phase: "Pending" }),
        pod(3, { forward: { status: 403 } }),
        pod(4, {
          forward: {
            complaint:
              "error forwarding port 17472 to pod 0a1b: failed to connect to localhost:17472 inside namespace: dial tcp4 127.0.0.1:17472: connect: connection refused",
          },
        }),
        pod(5, { forward: { status: 500 } }),
      ],
    );
    expect(output.split("\n").filter((line) => line.startsWith("!"))).to.deep.equal([
      "! n2 gives no answer: its pod is Pending",
      "! n3 gives no answer: this user may not open a port-forward: it needs the verbs get and create on pods/portforward in namespace metallb-system",
      "! n4 gives no answer: nothing listens on its port 17472",
      "! n5 gives no answer: no port-forward: Unexpected server response: 500",
    ]);
    expect(exitCode).to.equal(1);
  });

  it("does not wait for ever for a pod whose port-forward never opens", async () => {
    const { exitCode, output } = await arpeggio(["status"], [pod(1), pod(2, { forward: "nothing" })]);
    expect(output).to.include("! n2 gives no answer: no port-forward within 8 s\n");
    expect(exitCode).to.equal(1);
  });

  for (const { name, listStatus, complaint } of [
    {
      name: "may not list pods",
      listStatus: 403,
      complaint: "this user may not list pods in namespace metallb-system",
    },
    { name: "is not known", listStatus: 401, complaint: "the API server does not accept the credentials" },
  ]) {
    it(`says that the user ${name}`, async () => {
      const ending = await arpeggio(["why", "192.0.2.1"], [pod(1)], listStatus);
      expect(ending).to.deep.equal({
        exitCode: 1,
        output: "",
        complaint: `arpeggio: the pods of namespace metallb-system cannot be listed at ${api?.url}: ${complaint}\n`,
      });
    });
  }

  it("says where to ask when the API server is away", async () => {
    const away = await startFakeApiServer([]);
    away.close();
    const { exitCode, complaint } = await runCommand(["status", `--kubeconfig=${writeKubeconfig(away.url)}`]);
    expect(complaint).to.match(
      /ECONNREFUSED.*The speakers go on without the API server; on a node, ask http:\/\/127\.0\.0\.1:17472\/status\n$/,
    );
    expect(exitCode).to.equal(1);
  });

  it("says that there are no speakers", async () => {
    const { exitCode, complaint } = await arpeggio(["status", "-n", "elsewhere", "-l", "app=x"], []);
    expect(complaint).to.equal(
      "arpeggio: no pod in namespace elsewhere has the labels app=x: --namespace and --selector say where the speakers are\n",
    );
    expect(exitCode).to.equal(1);
  });

  it("names the contexts that there are", async () => {
    const { complaint } = await arpeggio(["status", "--context=other"], []);
    expect(complaint).to.equal('arpeggio: the kubeconfig has no context "other"; it has: test\n');
  });

  it("names a kubeconfig that cannot be read", async () => {
    const { exitCode, complaint } = await runCommand(["status", `--kubeconfig=${join(folder, "none")}`]);
    expect(complaint).to.match(/^arpeggio: the kubeconfig cannot be read: ENOENT/);
    expect(exitCode).to.equal(1);
  });
});
