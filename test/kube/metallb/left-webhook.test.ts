import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { readLeftWebhook, readyEndpoints } from "../../../src/kube/metallb/left-webhook.ts";
import { WebhookRemover } from "../../../src/kube/metallb/webhook-remover.ts";
import { refusal, ScriptedApi, settled } from "./scripted-api.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const WEBHOOKS = `${ADMISSION}/validatingwebhookconfigurations/metallb-webhook-configuration`;
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/metallb-system/endpointslices";
const POLICIES = ["arpeggio-pools", "arpeggio-advertisements"];

function webhook(...services: readonly unknown[]) {
  const webhooks = services.map((service) => ({ name: "x", clientConfig: { service } }));
  return { metadata: { uid: "uid-w", resourceVersion: "7" }, webhooks };
}

const THEIRS = { namespace: "metallb-system", name: "metallb-webhook-service", path: "/validate" };

function slices(...endpoints: readonly unknown[]) {
  return { items: [{ endpoints: null }, { endpoints }] };
}

function endpoint(pod: string, ready?: boolean) {
  const conditions = ready === undefined ? {} : { ready };
  return { addresses: ["10.88.1.5"], conditions, targetRef: { kind: "Pod", name: pod } };
}

const isOurs = (pod: string) => pod.startsWith("arpeggio-");

describe("readyEndpoints", () => {
  for (const { name, body, ready } of [
    { name: "nobody without slices", body: { items: [] }, ready: [] },
    { name: "nobody in what is no list", body: null, ready: [] },
    { name: "MetalLB's controller", body: slices(endpoint("controller-1", true)), ready: ["controller-1"] },
    { name: "one that does not say so", body: slices(endpoint("controller-1")), ready: ["controller-1"] },
    { name: "nobody who is not ready", body: slices(endpoint("controller-1", false)), ready: [] },
    {
      name: "none of our controllers, which MetalLB's Service selects too",
      body: slices(endpoint("arpeggio-controller-1", true)),
      ready: [],
    },
    {
      name: "an address without a Pod",
      body: slices({ addresses: ["192.0.2.9"], conditions: { ready: true } }),
      ready: ["192.0.2.9"],
    },
  ]) {
    it(`finds ${name}`, () => expect(readyEndpoints(body, isOurs)).to.deep.equal(ready));
  }
});

describe("readLeftWebhook", () => {
  it("names each Service once", () => {
    expect(readLeftWebhook(webhook(THEIRS, THEIRS)).services).to.deep.equal([
      { namespace: "metallb-system", name: "metallb-webhook-service" },
    ]);
  });

  it("names none when one is asked by URL", () => {
    expect(readLeftWebhook(webhook(THEIRS, undefined)).services).to.equal(undefined);
  });
});

describe("WebhookRemover", () => {
  let clock: VirtualClock;
  let api: ScriptedApi;
  let isLeading: boolean;
  let remover: WebhookRemover;

  beforeEach(() => {
    clock = new VirtualClock();
    api = new ScriptedApi();
    isLeading = true;
    api.bodies.set(WEBHOOKS, webhook(THEIRS, THEIRS));
    api.bodies.set(SLICES, slices(endpoint("arpeggio-controller-1", true)));
    for (const name of POLICIES) {
      for (const resource of ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]) {
        api.bodies.set(`${ADMISSION}/${resource}/${name}`, {});
      }
    }
    remover = new WebhookRemover({
      api,
      clock,
      log: createLog(
        "none",
        () => undefined,
        () => 0,
      ),
      namespace: "metallb-system",
      policies: POLICIES,
      isOurs,
      isLeading: () => isLeading,
      fail: (error) => {
        throw error;
      },
    });
  });
  afterEach(() => remover.close());

  async function run(durationMs = 0): Promise<void> {
    await settled();
    for (let leftMs = durationMs; leftMs > 0; leftMs -= 1_000) {
      clock.advance(1_000);
      await settled();
    }
  }

  it("deletes it when nobody answers, 10 s after the policies were seen, and this one alone", async () => {
    remover.lookNow();
    await run(9_000);
    expect(api.writes).to.deep.equal([]);
    expect(remover.state).to.deep.equal({
      kind: "kept",
      why: "the validation policies are not enforced everywhere yet",
    });
    await run(1_000);
    expect(api.writes).to.deep.equal([
      {
        method: "DELETE",
        path: WEBHOOKS,
        body: { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "uid-w", resourceVersion: "7" } },
      },
    ]);
    expect(remover.state).to.deep.equal({ kind: "absent" });
  });

  it("keeps it while MetalLB's controller answers, and deletes it soon after", async () => {
    api.bodies.set(SLICES, slices(endpoint("controller-1", true)));
    remover.lookNow();
    await run(60_000);
    expect(remover.state).to.deep.equal({
      kind: "kept",
      why: "Service metallb-webhook-service still has the ready endpoint controller-1",
    });
    api.bodies.set(SLICES, slices(endpoint("controller-1", false)));
    await run(14_000);
    expect(api.writes).to.have.length(1);
  });

  for (const resource of ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]) {
    it(`keeps it while one of the ${resource} is missing`, async () => {
      const body = api.bodies.get(`${ADMISSION}/${resource}/arpeggio-pools`);
      remover.lookNow();
      await run(5_000);
      api.bodies.delete(`${ADMISSION}/${resource}/arpeggio-pools`);
      await run(60_000);
      expect(api.writes).to.deep.equal([]);
      expect(remover.state).to.have.property("why").that.contains(`there is no ${resource} arpeggio-pools`);
      // The ten seconds begin anew.
      api.bodies.set(`${ADMISSION}/${resource}/arpeggio-pools`, body);
      await run(9_000);
      expect(api.writes).to.deep.equal([]);
      await run(5_000);
      expect(api.writes).to.have.length(1);
    });
  }

  for (const { name, services } of [
    { name: "of another namespace", services: [{ ...THEIRS, namespace: "other" }] },
    { name: "and a URL", services: [THEIRS, undefined] },
  ]) {
    it(`keeps one that asks a Service ${name}`, async () => {
      api.bodies.set(WEBHOOKS, webhook(...services));
      remover.lookNow();
      await run(120_000);
      expect(api.writes).to.deep.equal([]);
      expect(remover.state.kind).to.equal("kept");
    });
  }

  it("does nothing without the Lease", async () => {
    isLeading = false;
    remover.lookNow();
    await run(120_000);
    expect(api.asked).to.deep.equal([]);
    isLeading = true;
    remover.lookNow();
    await run(15_000);
    expect(api.writes).to.have.length(1);
  });

  it("finds none, and one that comes later", async () => {
    api.bodies.delete(WEBHOOKS);
    remover.lookNow();
    await run();
    expect(remover.state).to.deep.equal({ kind: "absent" });
    api.bodies.set(WEBHOOKS, webhook(THEIRS));
    await run(75_000);
    expect(api.writes).to.have.length(1);
  });

  it("does not delete one that was changed meanwhile, and looks again", async () => {
    api.trouble = ({ method }) =>
      method === "DELETE" && api.writes.length === 1 ? refusal(409, "changed") : undefined;
    remover.lookNow();
    await run(20_000);
    expect(api.writes).to.have.length(2);
  });

  it("says which right is missing", async () => {
    api.trouble = ({ path }) => (path === SLICES ? refusal(403, "forbidden") : undefined);
    remover.lookNow();
    await run(60_000);
    expect(remover.state).to.deep.equal({
      kind: "unknown",
      why: "may not list endpointslices: apply manifests/components/takeover",
    });
  });
});
