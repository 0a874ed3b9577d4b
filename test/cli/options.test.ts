import { expect } from "chai";
import { formatHelp } from "../../cli/help.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SELECTOR, parseCommandLine } from "../../cli/options.ts";

const PODS = { kind: "pods", namespace: DEFAULT_NAMESPACE, selector: DEFAULT_SELECTOR };
const STATUS = { kind: "run", question: { kind: "status" }, output: "text", speakers: PODS };

describe("parseCommandLine", () => {
  for (const { words, invocation } of [
    { words: "status", invocation: STATUS },
    { words: "-o json status", invocation: { ...STATUS, output: "json" } },
    { words: "status --output=json", invocation: { ...STATUS, output: "json" } },
    {
      words: "status -n lb -l app=x --kubeconfig=/k --context c",
      invocation: {
        ...STATUS,
        speakers: { kind: "pods", namespace: "lb", selector: "app=x", kubeconfig: "/k", context: "c" },
      },
    },
    {
      words: "why 2001:DB8:0::1",
      invocation: { ...STATUS, question: { kind: "why", address: "2001:db8::1" } },
    },
    {
      words: "why shop/web-2",
      invocation: { ...STATUS, question: { kind: "why-service", service: "shop/web-2" } },
    },
    {
      words: "status --urls=http://n1.example.org,http://[2001:db8::1]:80/,http://192.0.2.1:80,unix:/run/http.sock",
      invocation: {
        ...STATUS,
        speakers: {
          kind: "urls",
          urls: [
            { text: "http://n1.example.org", host: "n1.example.org", port: 17472 },
            { text: "http://[2001:db8::1]:80/", host: "2001:db8::1", port: 80 },
            { text: "http://192.0.2.1:80", host: "192.0.2.1", port: 80 },
            { text: "unix:/run/http.sock", socketPath: "/run/http.sock" },
          ],
        },
      },
    },
    { words: "--help status nonsense", invocation: { kind: "help" } },
    { words: "help", invocation: { kind: "help" } },
    { words: "-h", invocation: { kind: "help" } },
    { words: "--version", invocation: { kind: "version" } },
  ]) {
    it(words, () => expect(parseCommandLine(words.split(" "))).to.deep.equal(invocation));
  }

  for (const { words, problems } of [
    { words: "", problems: ["a command is missing: status, why ADDRESS, why NAMESPACE/SERVICE"] },
    { words: "doctor", problems: ['"doctor" is not a command; there are: status, why ADDRESS, why NAMESPACE/SERVICE'] },
    { words: "status 192.0.2.1", problems: ['"192.0.2.1" is one word too many'] },
    { words: "why", problems: ["why needs an IP address or NAMESPACE/SERVICE"] },
    { words: "why web", problems: ['"web" is not an IP address or NAMESPACE/SERVICE'] },
    { words: "why Shop/web", problems: ['"Shop/web" is not an IP address or NAMESPACE/SERVICE'] },
    { words: "why shop/web/http", problems: ['"shop/web/http" is not an IP address or NAMESPACE/SERVICE'] },
    { words: "why shop/", problems: ['"shop/" is not an IP address or NAMESPACE/SERVICE'] },
    { words: "why 192.0.2.1 192.0.2.2", problems: ['"192.0.2.2" is one word too many'] },
    {
      words: "why web -o yaml",
      problems: ['"web" is not an IP address or NAMESPACE/SERVICE', '--output is "yaml", but can be text or json'],
    },
    { words: "status --urls=,", problems: ["--urls names no speaker"] },
    {
      words: "status --urls=https://n1,n2,http://n3/status,unix:",
      problems: ["https://n1", "n2", "http://n3/status", "unix:"].map(
        (text) => `--urls has "${text}", which is no http://HOST[:PORT] and no unix:PATH`,
      ),
    },
    {
      words: "status --urls=http://n1 -n x",
      problems: ["--namespace is about Kubernetes, which --urls does without: give one of them"],
    },
    { words: "status --colour", problems: ["Unknown option '--colour'"] },
    { words: "status -n", problems: ["Option '-n, --namespace <value>' argument missing"] },
  ]) {
    it(`refuses "${words}"`, () => {
      const given = words.split(" ").filter((word) => word !== "");
      expect(parseCommandLine(given)).to.deep.equal({ kind: "invalid", problems });
    });
  }
});

describe("help of arpeggio", () => {
  it("fits into 80 columns", () => {
    const long = formatHelp()
      .split("\n")
      .filter((line) => line.length > 80);
    expect(long).to.deep.equal([]);
  });
});
