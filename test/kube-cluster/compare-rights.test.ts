import { expect } from "chai";
import { CONTROLLER_GRANTS, type Grants, MAKE_KEY_GRANTS, SPEAKER_GRANTS, TAKEOVER_GRANTS } from "../../api/rbac.ts";
import { type AuditRequest, parseAuditLine } from "../../hack/kube-cluster/audit/audit-log.ts";
import { type Comparison, compareRights, unusedOf } from "../../hack/kube-cluster/audit/compare-rights.ts";
import { formatComparison, formatRight, summaryOf } from "../../hack/kube-cluster/audit/rights-report.ts";
import { auditRequest } from "./audit-request.ts";

const GRANTS: Grants = {
  serviceAccount: "arpeggio-speaker",
  cluster: [{ apiGroup: "", resources: ["services", "nodes"], verbs: ["list", "watch"], to: "know" }],
  namespace: [
    { apiGroup: "", resources: ["pods"], verbs: ["list"], to: "find" },
    { apiGroup: "metallb.io", resources: ["servicel2statuses/status"], verbs: ["patch"], to: "say" },
  ],
};

const START_MS = Date.parse("2026-11-29T23:40:00.000Z");

/** As the API server of Kubernetes 1.36 wrote it. */
const SERVER_SIDE_APPLY = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"e4e541d5-db72-40ac-a093-d2fb8509430f","stage":"ResponseComplete","requestURI":"/apis/metallb.io/v1beta1/namespaces/metallb-system/configurationstates/speaker-n1/status?fieldManager=configReconciler&force=true","verb":"patch","user":{"username":"system:serviceaccount:metallb-system:arpeggio-speaker","uid":"7a7fc20d-4193-4953-8a2a-2f11860c0142","groups":["system:serviceaccounts","system:serviceaccounts:metallb-system","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=e7732d9a-d9a9-4d52-ae0d-07eb81563559"],"authentication.kubernetes.io/node-name":["n1"],"authentication.kubernetes.io/pod-name":["arpeggio-speaker-c8774"]}},"sourceIPs":["192.0.2.11"],"userAgent":"arpeggio-speaker/0.0.0","objectRef":{"resource":"configurationstates","namespace":"metallb-system","name":"speaker-n1","apiGroup":"metallb.io","apiVersion":"v1beta1","subresource":"status"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-29T23:40:13.242916Z","stageTimestamp":"2026-11-29T23:40:13.260825Z","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by RoleBinding"}}`;

function request(verb: string, resource: string | undefined, others: Partial<AuditRequest> = {}): AuditRequest {
  return auditRequest({ verb, resource, ...others });
}

const patch = request("patch", "servicel2statuses/status", { apiGroup: "metallb.io", namespace: "metallb-system" });

const ALL = [
  request("list", "services"),
  request("list", "services"),
  request("watch", "services"),
  request("list", "nodes"),
  request("watch", "nodes"),
  request("list", "pods", { namespace: "metallb-system" }),
  patch,
];

function compare(requests: readonly AuditRequest[]): Comparison {
  return compareRights([GRANTS], requests);
}

describe("parseAuditLine", () => {
  it("reads a server-side apply of a status as a patch of the subresource, by the pod whose token it was", () => {
    expect(parseAuditLine(SERVER_SIDE_APPLY)).to.deep.equal({
      id: "e4e541d5-db72-40ac-a093-d2fb8509430f",
      atMs: Date.parse("2026-11-29T23:40:13.242Z"),
      user: "system:serviceaccount:metallb-system:arpeggio-speaker",
      pod: "arpeggio-speaker-c8774",
      verb: "patch",
      apiGroup: "metallb.io",
      resource: "configurationstates/status",
      namespace: "metallb-system",
      path: "/apis/metallb.io/v1beta1/namespaces/metallb-system/configurationstates/speaker-n1/status",
      code: 200,
      isAllowed: true,
    });
  });

  it("has neither resource nor permission where the line has none", () => {
    const line = `{"auditID":"a","verb":"get","requestURI":"/openapi/v3?hash=1","requestReceivedTimestamp":"2026-11-29T23:40:13Z","user":{}}`;
    const found = parseAuditLine(line);
    expect(found).to.include({ path: "/openapi/v3", resource: undefined, pod: undefined, code: 0, isAllowed: false });
  });

  for (const line of ["", "null", "[]", "{}", SERVER_SIDE_APPLY.slice(0, -5)]) {
    it(`takes ${JSON.stringify(line.slice(0, 10))} for no request`, () => {
      expect(parseAuditLine(line)).to.equal(undefined);
    });
  }
});

describe("compareRights", () => {
  it("counts a right once, however often it is used", () => {
    const comparison = compare(ALL);
    expect(summaryOf(comparison)).to.equal("granted 6, used 6, refused 0");
    expect(
      comparison.granted.find(({ resource, verb }) => resource === "services" && verb === "list")?.requests,
    ).to.equal(2);
  });

  it("names what is granted and was never used", () => {
    const comparison = compare(ALL.filter((one) => one !== patch));
    expect(summaryOf(comparison)).to.equal("granted 6, used 5, refused 0");
    expect(unusedOf(comparison).map(formatRight)).to.deep.equal([
      "patch servicel2statuses/status (metallb.io) in metallb-system",
    ]);
  });

  for (const { name, beyond } of [
    { name: "a verb", beyond: request("get", "services") },
    { name: "an update, which is no patch", beyond: { ...patch, verb: "update" } },
    { name: "a subresource", beyond: request("list", "services/status") },
    { name: "a group", beyond: request("list", "services", { apiGroup: "example.org" }) },
    { name: "another namespace", beyond: request("list", "pods", { namespace: "default" }) },
    { name: "every namespace", beyond: request("list", "pods") },
  ]) {
    it(`finds ${name} that is not granted`, () => {
      const comparison = compare([...ALL, beyond]);
      expect(summaryOf(comparison)).to.equal("granted 6, used 6, refused 0, beyond 1");
      expect(comparison.beyond.map(({ right }) => right.verb)).to.deep.equal([beyond.verb]);
    });
  }

  it("lets a right for every namespace stand for one", () => {
    expect(compare([request("list", "services", { namespace: "default" })]).beyond).to.deep.equal([]);
  });

  it("does not take a refused request for a use", () => {
    const comparison = compare([{ ...patch, isAllowed: false, code: 403 }]);
    expect(summaryOf(comparison)).to.equal("granted 6, used 0, refused 1");
    expect(comparison.refused.map(({ right }) => right.resource)).to.deep.equal(["servicel2statuses/status"]);
  });

  it("excuses refusals of the time in which a test had taken rights away, and no others", () => {
    const refusals = [-1, 0, 10, 11].map((seconds) => ({
      ...request("watch", "nodes", { isAllowed: false, code: 403 }),
      atMs: START_MS + 1_000 * seconds,
    }));
    const window = { fromMs: START_MS, toMs: START_MS + 10_000, why: "no watch" };
    const comparison = compareRights([GRANTS], [...ALL, ...refusals], [window]);
    expect(summaryOf(comparison)).to.equal("granted 6, used 6, refused 2");
    expect(comparison.refusedOnPurpose).to.have.length(1);
    expect(comparison.refusedOnPurpose[0]).to.include({ requests: 2, why: "no watch", firstMs: START_MS });
  });

  it("tells what admission turns away from what RBAC does", () => {
    const comparison = compare([...ALL, { ...patch, code: 403 }]);
    expect(summaryOf(comparison)).to.equal("granted 6, used 6, refused 0");
    expect(comparison.notAdmitted).to.have.length(1);
  });

  it("judges no path that every user may ask for, no token of no pod, and no other account", () => {
    const comparison = compare([
      ...ALL,
      request("get", undefined, { path: "/openapi/v3/apis/metallb.io/v1beta1" }),
      request("get", "secrets", { pod: undefined, isAllowed: false, code: 403 }),
      request("get", "secrets", { user: "system:serviceaccount:metallb-system:other" }),
    ]);
    expect(summaryOf(comparison)).to.equal("granted 6, used 6, refused 0");
    expect(comparison.paths).to.deep.equal(["/openapi/v3/apis/metallb.io/v1beta1"]);
    expect(comparison.withoutPod).to.equal(1);
  });

  it("knows every verb of the real tables", () => {
    const comparisons = [
      compareRights([SPEAKER_GRANTS], []),
      compareRights([MAKE_KEY_GRANTS], []),
      compareRights([CONTROLLER_GRANTS, TAKEOVER_GRANTS], []),
    ];
    for (const { granted } of comparisons) {
      expect(new Set(granted.map((right) => JSON.stringify(right)))).to.have.property("size", granted.length);
    }
    expect(comparisons.map(summaryOf)).to.deep.equal([
      "granted 30, used 0, refused 0",
      "granted 1, used 0, refused 0",
      "granted 37, used 0, refused 0",
    ]);
  });
});

describe("formatComparison", () => {
  it("shows each right, then who was refused what, and when", () => {
    const refusal = request("get", "secrets", { namespace: "default", isAllowed: false, code: 403 });
    expect(formatComparison(compare([...ALL.slice(1), refusal]))).to.equal(`arpeggio-speaker
NAMESPACE       RESOURCE                               VERB   REQUESTS
all             services                               list   1
all             services                               watch  1
all             nodes                                  list   1
all             nodes                                  watch  1
metallb-system  pods                                   list   1
metallb-system  servicel2statuses/status (metallb.io)  patch  1
refused: get secrets in default, 1 from 2026-11-29T23:40:00.000Z to 2026-11-29T23:40:00.000Z, by arpeggio-speaker-a
granted 6, used 6, refused 1
`);
  });
});
