import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import { disownRequest, readSecretOwners } from "../../../src/kube/metallb/gossip-secret.ts";
import { GossipSecretKeeper } from "../../../src/kube/metallb/gossip-secret-keeper.ts";
import { refusal, ScriptedApi, settled } from "./scripted-api.ts";

const SECRETS = "/api/v1/namespaces/metallb-system/secrets";
const PATH = `${SECRETS}/memberlist`;
const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment", name: "controller", uid: "uid-d", controller: true };
const OTHER = { apiVersion: "example.org/v1", kind: "Deployment", name: "other", uid: "uid-o" };

function secret(ownerReferences?: readonly unknown[]) {
  return { metadata: { name: "memberlist", uid: "uid-s", ...(ownerReferences && { ownerReferences }) } };
}

describe("readSecretOwners", () => {
  it("finds the Deployments among the owners, and no others", () => {
    const owners = [OTHER, DEPLOYMENT, { kind: "Pod", apiVersion: "v1", name: "p", uid: "uid-p" }, null, "x"];
    expect(readSecretOwners(secret(owners))).to.deep.equal({
      uid: "uid-s",
      deployments: [{ name: "controller", uid: "uid-d" }],
    });
  });

  for (const body of [undefined, null, "text", secret(), secret([]), { metadata: { ownerReferences: "x" } }]) {
    it(`finds none in ${JSON.stringify(body)}`, () => {
      expect(readSecretOwners(body).deployments).to.deep.equal([]);
    });
  }
});

describe("disownRequest", () => {
  it("names the Secret by its uid, and the owner by its own", () => {
    const { method, path, contentType, body } = disownRequest("metallb-system", "memberlist", {
      uid: "uid-s",
      deployments: [{ name: "controller", uid: "uid-d" }],
    });
    expect({ method, path, contentType }).to.deep.equal({
      method: "PATCH",
      path: PATH,
      contentType: "application/strategic-merge-patch+json",
    });
    expect(body).to.deep.equal({ metadata: { uid: "uid-s", ownerReferences: [{ $patch: "delete", uid: "uid-d" }] } });
  });
});

describe("GossipSecretKeeper", () => {
  let clock: VirtualClock;
  let api: ScriptedApi;
  let isLeading: boolean;
  let keeper: GossipSecretKeeper;
  const logged: string[] = [];

  beforeEach(() => {
    clock = new VirtualClock();
    api = new ScriptedApi();
    isLeading = true;
    logged.length = 0;
    keeper = new GossipSecretKeeper({
      api,
      clock,
      random: new SeededRandom(1),
      log: createLog(
        "all",
        (line) => logged.push((JSON.parse(line) as { msg: string }).msg),
        () => 0,
      ),
      namespace: "metallb-system",
      name: "memberlist",
      isLeading: () => isLeading,
      fail: (error) => {
        throw error;
      },
    });
  });
  afterEach(() => keeper.close());

  async function run(durationMs = 0): Promise<void> {
    await settled();
    clock.advance(durationMs);
    await settled();
  }

  it("makes it when there is none, as MetalLB does, and owned by nobody", async () => {
    keeper.lookNow();
    await run();
    const [made] = api.writes;
    expect(made).to.deep.include({ method: "POST", path: SECRETS });
    const body = made?.body as
      | { readonly metadata: unknown; readonly data: { readonly secretkey: string } }
      | undefined;
    expect(body?.metadata).to.deep.equal({ name: "memberlist", namespace: "metallb-system" });
    expect(Buffer.from(body?.data.secretkey ?? "", "base64").toString()).to.match(/^[A-Za-z0-9+/]{22}$/);
    expect(logged).to.deep.equal(["Secret with the gossip key made"]);
  });

  it("leaves the making to whoever holds the Lease, and does it when the Lease comes", async () => {
    isLeading = false;
    keeper.lookNow();
    await run(60_000);
    expect(api.writes).to.deep.equal([]);
    isLeading = true;
    keeper.lookNow();
    await run();
    expect(api.writes).to.have.length(1);
  });

  it("takes it from a Deployment at once, without the Lease, and reads nothing of the key", async () => {
    isLeading = false;
    api.bodies.set(PATH, secret([OTHER, DEPLOYMENT]));
    keeper.lookNow();
    await run();
    expect(api.writes.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([`PATCH ${PATH}`]);
    expect(api.asked.every(({ accept }) => accept?.includes("as=PartialObjectMetadata"))).to.equal(true);
  });

  it("leaves it alone when it belongs to nobody, and looks again", async () => {
    api.bodies.set(PATH, secret());
    keeper.lookNow();
    await run();
    api.bodies.set(PATH, secret([DEPLOYMENT]));
    await run(10_000);
    expect(api.writes).to.have.length(1);
  });

  it("reads again when it is another Secret by now", async () => {
    api.bodies.set(PATH, secret([DEPLOYMENT]));
    api.trouble = ({ method }) =>
      method === "PATCH" && api.writes.length === 1 ? refusal(409, "conflict") : undefined;
    keeper.lookNow();
    await run(1_000);
    expect(api.asked.map(({ method }) => method).slice(0, 4)).to.deep.equal(["GET", "PATCH", "GET", "PATCH"]);
    expect(keeper.problem).to.equal(undefined);
  });

  it("says which right is missing, once, and asks again a minute later", async () => {
    api.trouble = () => refusal(403, "forbidden");
    keeper.lookNow();
    await run(59_000);
    expect(keeper.problem).to.equal("may not get secrets by the name memberlist in namespace metallb-system");
    expect(api.asked).to.have.length(1);
    await run(1_000);
    expect(logged).to.deep.equal(["Secret with the gossip key not kept"]);
    api.trouble = undefined;
    await run(60_000);
    expect(keeper.problem).to.equal(undefined);
  });

  it("goes on when no answer comes, and when the token is refused", async () => {
    api.trouble = () => "away";
    keeper.lookNow();
    await run();
    expect(keeper.problem).to.contain("no answer within 5 s");
    api.trouble = () => refusal(401, "Unauthorized");
    await run(2_000);
    expect(api.refreshes).to.equal(1);
    api.trouble = undefined;
    await run(2_000);
    expect(api.writes).to.have.length(1);
  });

  it("does nothing more once it is closed", async () => {
    keeper.lookNow();
    keeper.close();
    await run(600_000);
    expect(api.asked.length).to.be.lessThan(3);
    expect(clock.nextMs()).to.equal(undefined);
  });
});
