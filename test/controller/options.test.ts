import { expect } from "chai";
import { type ControllerOptions, parseOptions } from "../../controller/options.ts";
import { OPTIONS } from "../../controller/options-table.ts";
import type { Invocation } from "../../src/options/invocation.ts";

const HOST = { hostname: "host-1", workingFolder: "/work", podNamespace: "lb", isReadable: () => true };
const IN_POD = { KUBERNETES_SERVICE_HOST: "192.0.2.1" };

function parse(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Invocation<ControllerOptions> {
  return parseOptions(words, environment, HOST);
}

function run(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const invocation = parse(words, environment);
  if (invocation.kind !== "run") expect.fail(JSON.stringify(invocation));
  return invocation;
}

describe("controller options", () => {
  it("in a pod the cluster is the source, with MetalLB's ports", () => {
    const { options } = run([], { ...IN_POD, METALLB_POD_NAME: "c-1", METALLB_NAMESPACE: "metallb-system" });
    expect(options.source).to.deep.include({
      kind: "kubernetes",
      namespace: "metallb-system",
      podName: "c-1",
      holderName: "c-1",
      health: { ip: "0.0.0.0", port: 17472 },
    });
    expect(options.source.kind === "kubernetes" && options.source.httpsMetrics?.port).to.equal(9120);
    expect(options).to.deep.include({ http: { ip: "127.0.0.1", port: 17473 }, writesConditions: true });
  });

  it("outside a pod the source must be named; a name in the Lease it has all the same", () => {
    expect(parse([])).to.deep.include({ kind: "invalid" });
    const { options } = run(["--source=kubernetes", "--kubeconfig=k", "--port=0", "--health-probe-port=0"]);
    const named = { kind: "kubernetes", kubeconfig: "/work/k", namespace: "lb", holderName: "host-1" };
    expect(options.source).to.deep.include(named);
    expect(options.source).to.not.have.any.keys("podName", "health", "httpsMetrics");
  });

  it("takes a folder", () => {
    expect(run(["--source=files:m"], IN_POD).options.source).to.deep.equal({ kind: "files", folder: "/work/m" });
  });

  it("starts with everything that MetalLB's manifests give its controller", () => {
    const words = [
      "--port=9120",
      "--log-level=info",
      "--tls-min-version=VersionTLS13",
      "--webhook-mode=enabled",
      "--disable-cert-rotation=false",
      "--cert-dir=/tmp/k8s-webhook-server/serving-certs",
      "--cert-service-name=metallb-webhook-service",
      "--webhook-secret=metallb-webhook-cert",
      "--webhook-http2=false",
      "--pprof-bind-address=",
      "--lb-class=example.org/x",
      "--health-probe-port=17472",
    ];
    const environment = {
      METALLB_ML_SECRET_NAME: "memberlist",
      METALLB_DEPLOYMENT: "controller",
      METALLB_BGP_TYPE: "frr",
    };
    const { options, notes } = run(words, { ...IN_POD, ...environment });
    expect(options.loadBalancerClass).to.equal("example.org/x");
    expect(notes).to.include("--webhook-mode is given, but has no effect here");
    expect(notes.join()).to.not.contain("METALLB");
  });

  it("says what has no effect with files", () => {
    const { notes } = run(["--source=files:m", "--namespace=x", "--kubeconfig=k"]);
    expect(notes).to.have.members([
      "--namespace is given, but has no effect with --source=files",
      "--kubeconfig is given, but has no effect with --source=files",
    ]);
  });

  it("has every option once", () => {
    const names = OPTIONS.rows.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });
});
