import { readFileSync } from "node:fs";
import { request } from "node:https";
import { expect } from "chai";
import { useControlPlane } from "../../support/control-plane.ts";

const WATCHER = { name: "watcher", groups: ["watchers"], token: "watcher-token" };

describe("the control plane for tests", () => {
  const plane = useControlPlane({ users: [WATCHER], controllerManager: true });

  it("is of a released version, for kubectl and server alike", async () => {
    const version = JSON.parse(await plane().kubectl(["version", "-o", "json"])) as Record<
      "clientVersion" | "serverVersion",
      { readonly gitVersion: string }
    >;
    expect(version.serverVersion.gitVersion).to.match(/^v1\.\d+\.\d+$/);
    expect(version.clientVersion.gitVersion).to.equal(version.serverVersion.gitVersion);
  });

  it("refuses a user that RBAC grants nothing, and an unknown token", async () => {
    expect(await statusOf("/api/v1/services", WATCHER.token)).to.equal(403);
    expect(await statusOf("/api/v1/services", plane().adminToken)).to.equal(200);
    expect(await statusOf("/api/v1/services", "nobody")).to.equal(401);
  });

  it("makes default service accounts and issues tokens for them", async () => {
    await plane().kubectl(["create", "namespace", "metallb-system"]);
    await plane().kubectl(["wait", "--for=create", "serviceaccount/default", "-n", "metallb-system", "--timeout=10s"]);
    const token = (await plane().kubectl(["create", "token", "default", "-n", "metallb-system"])).trim();
    expect(await statusOf("/api/v1/namespaces/metallb-system/configmaps", token)).to.equal(403);
    const entries = readFileSync(plane().auditLog, "utf8").trimEnd().split("\n");
    expect(entries.filter((entry) => entry.includes("system:serviceaccount:metallb-system:default"))).to.have.length(1);
  });

  it("gives a Service of two families an address of each, from a server restarted on the same data and port", async () => {
    const { baseUrl } = plane();
    await plane().kubectl(
      ["apply", "-f", "-"],
      `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},
        "spec":{"type":"LoadBalancer","ipFamilyPolicy":"RequireDualStack","ports":[{"port":80}]}}`,
    );
    await plane().stopApiServer();
    expect(await statusOf("/readyz", plane().adminToken).catch((error: Error) => error.message)).to.match(
      /ECONNREFUSED/,
    );
    await plane().startApiServer();
    expect(plane().baseUrl).to.equal(baseUrl);
    const addresses = await plane().kubectl(["get", "service", "web", "-o", "jsonpath={.spec.clusterIPs}"]);
    expect(JSON.parse(addresses)).to.have.length(2);
  });

  function statusOf(path: string, token: string): Promise<number | undefined> {
    const ca = readFileSync(plane().caFile);
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      request(`${plane().baseUrl}${path}`, { ca, headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once("error", reject)
        .end();
    });
  }
});
