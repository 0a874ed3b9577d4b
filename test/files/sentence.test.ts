import { expect } from "chai";
import { ADVERTISEMENT, after, NODE, POOL, SERVICE, SLICE, sentencesOf } from "./manifests.ts";

describe("files: sentences", () => {
  for (const { name, text, sentence } of [
    {
      name: "a value that is none of a list",
      text: SERVICE.replace("Local", "Locl"),
      sentence: 'lb.yaml:8: Service default/web: spec.externalTrafficPolicy is "Locl": must be one of Cluster, Local',
    },
    {
      name: "a pool entry",
      text: `# our pools\n---\n${POOL.replace("192.0.2.0/28", "192.0.2.0/33")}`,
      sentence:
        'lb.yaml:8: IPAddressPool default/main: spec.addresses[0] is "192.0.2.0/33": must be a prefix such as 192.0.2.0/24 or a range such as 192.0.2.10-192.0.2.20',
    },
    {
      name: "a bare address in a pool",
      text: POOL.replace("192.0.2.0/28", "192.0.2.1"),
      sentence:
        'lb.yaml:6: IPAddressPool default/main: spec.addresses[0] is "192.0.2.1": must be a prefix such as 192.0.2.0/24 or a range such as 192.0.2.10-192.0.2.20',
    },
    {
      name: "a range that ends before it starts",
      text: POOL.replace("192.0.2.32-192.0.2.47", "192.0.2.47-192.0.2.32"),
      sentence:
        'lb.yaml:7: IPAddressPool default/main: spec.addresses[1] is "192.0.2.47-192.0.2.32": must not end before it starts',
    },
    {
      name: "entries that overlap",
      text: POOL.replace("192.0.2.32-", "192.0.2.8-"),
      sentence:
        'lb.yaml:7: IPAddressPool default/main: spec.addresses[1] is "192.0.2.8-192.0.2.47": must not overlap with an entry before it',
    },
    {
      name: "an annotation of an advertisement",
      text: ADVERTISEMENT.replace("{name: main}", '{name: main, annotations: {arpeggio.dev/sticky: "forever"}}'),
      sentence:
        'lb.yaml:3: L2Advertisement default/main: metadata.annotations["arpeggio.dev/sticky"] is "forever": must be false or true; the default, false, stands',
    },
    {
      name: "an annotation of a Node",
      text: NODE.replace('step-down: "true"', 'step-down: "yes"'),
      sentence:
        'lb.yaml:6: Node n1: metadata.annotations["arpeggio.dev/step-down"] is "yes": must be false or true; the default, false, stands',
    },
    {
      name: "a missing field",
      text: POOL.slice(0, POOL.indexOf("  addresses")).replace("spec:", "spec: {}"),
      sentence: "lb.yaml:4: IPAddressPool default/main: spec.addresses is missing",
    },
    {
      name: "a misspelt field",
      text: ADVERTISEMENT.replace("nodeSelectors", "nodeSelector"),
      sentence: "lb.yaml:6: L2Advertisement default/main: spec.nodeSelector is no field of this kind",
    },
    {
      name: "an operator",
      text: ADVERTISEMENT.replace("operator: In", "operator: in"),
      sentence:
        'lb.yaml:8: L2Advertisement default/main: spec.nodeSelectors[0].matchExpressions[0].operator is "in": must be one of In, NotIn, Exists, DoesNotExist',
    },
    {
      name: "an operator without values",
      text: ADVERTISEMENT.replace("values: [a]", "values: []"),
      sentence:
        "lb.yaml:8: L2Advertisement default/main: spec.nodeSelectors[0].matchExpressions[0].values is []: must not be empty with In",
    },
    {
      name: "a weight",
      text: ADVERTISEMENT.replace("weight: 10", "weight: 101"),
      sentence:
        "lb.yaml:10: L2Advertisement default/main: spec.preferredNodeSelectors[0].weight is 101: must not be more than 100",
    },
    {
      name: "a pool named twice",
      text: ADVERTISEMENT.replace("[main]", "[main, main]"),
      sentence: "lb.yaml:5: L2Advertisement default/main: spec.ipAddressPools[1] repeats an entry before it",
    },
    {
      name: "a label that is no text",
      text: SERVICE.replace("app: web", "example.org/app: 3"),
      sentence: 'lb.yaml:5: Service default/web: metadata.labels["example.org/app"] is 3: must be a string',
    },
    {
      name: "an address that is none",
      text: SERVICE.replace("192.0.2.1", "192.0.2.256"),
      sentence: 'lb.yaml:9: Service default/web: spec.loadBalancerIP is "192.0.2.256": must be an IP address',
    },
    {
      name: "another version",
      text: POOL.replace("v1beta1", "v1beta2"),
      sentence:
        'lb.yaml:1: IPAddressPool default/main: apiVersion is "metallb.io/v1beta2": must be "metallb.io/v1beta1"',
    },
    {
      name: "no name",
      text: SERVICE.replace("name: web", "nmae: web"),
      sentence: "lb.yaml:3: Service: metadata.name is missing",
    },
    {
      name: "a slice without a Service",
      text: SLICE.replace("kubernetes.io/service-name", "app"),
      sentence: 'lb.yaml:5: EndpointSlice default/web-1: metadata.labels["kubernetes.io/service-name"] is missing',
    },
    {
      name: "broken YAML",
      text: SERVICE.replace("{app: web}", "{app: web"),
      sentence: /^lb\.yaml:\d+: .*; the file is skipped$/,
    },
    {
      name: "BGP",
      text: "apiVersion: metallb.io/v1beta2\nkind: BGPPeer\nmetadata: {name: tor}\n",
      sentence: "lb.yaml:1: BGPPeer tor: BGP is not served, its addresses are announced by ARP and NDP only",
    },
    {
      name: "another kind",
      text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
      sentence: "lb.yaml:1: Deployment web: this kind is not read, ignored",
    },
    {
      name: "a kind of ours in another group",
      text: "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web}\n",
      sentence: "lb.yaml:1: Service web: this kind is not read, ignored",
    },
    {
      name: "no object",
      text: "hello\n",
      sentence: "lb.yaml:1: no Kubernetes object (apiVersion and kind are missing): ignored",
    },
  ]) {
    it(`names ${name}`, () => {
      const sentences = sentencesOf(text);
      expect(sentences).to.have.lengthOf(1);
      if (typeof sentence === "string") expect(sentences[0]).to.equal(sentence);
      else expect(sentences[0]).to.match(sentence);
    });
  }

  it("keep a file from being the last good one only where something of it does not count", () => {
    expect(after(NODE.replace('step-down: "true"', 'step-down: "yes"')).isGood).to.equal(true);
    expect(after(NODE.replace("unschedulable: true", "unschedulable: 1")).isGood).to.equal(false);
  });
});
