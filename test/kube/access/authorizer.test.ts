import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import type { ApiAnswer, ApiRequest } from "../../../src/kube/api-server.ts";
import { KubernetesAuthorizer } from "../../../src/kube/authorizer.ts";

const PROMETHEUS = {
  username: "system:serviceaccount:monitoring:prometheus",
  uid: "1-2-3",
  groups: ["system:serviceaccounts", "system:authenticated"],
  extra: { "authentication.kubernetes.io/pod-name": ["prometheus-0"] },
};

function created(status: unknown): ApiAnswer {
  return { status: 201, body: { status } };
}

/** `good` is known and allowed, `poor` is known, the rest is not. */
function usual({ path, body }: ApiRequest): ApiAnswer {
  const { spec } = body as { spec: { token?: string; user?: string } };
  if (path.endsWith("/subjectaccessreviews")) return created({ allowed: spec.user === PROMETHEUS.username });
  if (spec.token === "good") return created({ authenticated: true, user: PROMETHEUS });
  if (spec.token === "poor") return created({ authenticated: true, user: { username: "mallory" } });
  return created({ authenticated: false, error: "invalid bearer token" });
}

describe("KubernetesAuthorizer", () => {
  const clock = new VirtualClock();
  let asked: ApiRequest[] = [];
  let refreshes = 0;
  let answer: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;
  let authorizer: KubernetesAuthorizer;

  beforeEach(() => {
    asked = [];
    refreshes = 0;
    answer = usual;
    const api = {
      request: async (request: ApiRequest) => {
        asked.push(request);
        return answer(request);
      },
      refreshCredentials: () => void refreshes++,
    };
    authorizer = new KubernetesAuthorizer({ api, path: "/metrics", nowMs: () => clock.nowMs() });
  });

  it("asks who the token is, then whether that one may get the path", async () => {
    expect(await authorizer.decide("good")).to.deep.equal({ kind: "allowed" });
    const { username, ...identity } = PROMETHEUS;
    expect(asked).to.deep.equal([
      {
        method: "POST",
        path: "/apis/authentication.k8s.io/v1/tokenreviews",
        body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "good" } },
      },
      {
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec: { user: username, ...identity, nonResourceAttributes: { path: "/metrics", verb: "get" } },
        },
      },
    ]);
  });

  it("does not ask about the rights of a token that the cluster does not know", async () => {
    expect(await authorizer.decide("wrong")).to.deep.equal({ kind: "unauthenticated" });
    expect(asked).to.have.length(1);
  });

  it("names who may not", async () => {
    expect(await authorizer.decide("poor")).to.deep.equal({ kind: "forbidden", user: "mallory" });
  });

  for (const { token, requests } of [
    { token: "good", requests: 2 },
    { token: "poor", requests: 2 },
    { token: "wrong", requests: 1 },
  ]) {
    it(`remembers what was said of a ${token} token for 60 s, and asks again then`, async () => {
      const first = await authorizer.decide(token);
      clock.advance(59_999);
      expect(await authorizer.decide(token)).to.deep.equal(first);
      expect(asked).to.have.length(requests);
      clock.advance(1);
      expect(await authorizer.decide(token)).to.deep.equal(first);
      expect(asked).to.have.length(2 * requests);
    });
  }

  it("notices a right that was taken away", async () => {
    await authorizer.decide("good");
    answer = (request) => (request.path.endsWith("/tokenreviews") ? usual(request) : created({ allowed: false }));
    clock.advance(60_000);
    expect(await authorizer.decide("good")).to.deep.equal({ kind: "forbidden", user: PROMETHEUS.username });
  });

  it("asks once for many who ask at the same time", async () => {
    const verdicts = await Promise.all([1, 2, 3].map(() => authorizer.decide("good")));
    expect(verdicts).to.deep.equal([{ kind: "allowed" }, { kind: "allowed" }, { kind: "allowed" }]);
    expect(asked).to.have.length(2);
  });

  it("says why it does not know, and remembers nothing of it", async () => {
    answer = () => Promise.reject(new Error("no answer within 10 s"));
    expect(await authorizer.decide("good")).to.deep.equal({ kind: "unknown", sentence: "no answer within 10 s" });
    answer = () => ({ status: 403, body: { message: "tokenreviews is forbidden" } });
    expect(await authorizer.decide("good")).to.deep.equal({
      kind: "unknown",
      sentence: "the API server does not say who may read this: tokenreviews is forbidden",
    });
    answer = usual;
    expect(await authorizer.decide("good")).to.deep.equal({ kind: "allowed" });
  });

  it("reads its own token anew when that one is refused", async () => {
    answer = (request) => (refreshes === 0 ? { status: 401, body: {} } : usual(request));
    expect(await authorizer.decide("good")).to.deep.equal({ kind: "allowed" });
    expect(refreshes).to.equal(1);
  });

  it("bounds what strangers make it ask, and still serves whom it knows", async () => {
    await authorizer.decide("good");
    asked = [];
    const verdicts = await Promise.all(
      Array.from({ length: 1_000 }, (_each, at) => authorizer.decide(`stranger-${at}`)),
    );
    expect(asked.length).to.be.lessThan(11);
    expect(verdicts.at(-1)).to.deep.include({ kind: "unknown" });
    clock.advance(60_000);
    await Promise.all(Array.from({ length: 1_000 }, (_each, at) => authorizer.decide(`other-${at}`)));
    expect(await authorizer.decide("good")).to.deep.equal({ kind: "allowed" });
  });

  for (const body of [undefined, "text", { status: null }, { status: { authenticated: "true" } }]) {
    it(`takes ${JSON.stringify(body)} for no`, async () => {
      answer = () => ({ status: 201, body });
      expect(await authorizer.decide("good")).to.deep.equal({ kind: "unauthenticated" });
    });
  }
});
