import { hostname } from "node:os";
import { expect } from "chai";
import { parseOptions, type SpeakerOptions } from "../../speaker/options.ts";
import { OPTION_TABLE } from "../../speaker/options-table.ts";
import type { Host } from "../../src/options/host.ts";

const SOURCE = "--source=files:/m";
const CLUSTER = "--source=kubernetes";

function hostWith(readable: readonly string[], name = "Node-A.example.org"): Host {
  return { hostname: name, workingFolder: "/work", isReadable: (path) => readable.includes(path) };
}

const BARE = hostWith([]);

function run(words: readonly string[], environment: Record<string, string> = {}, host = BARE): SpeakerOptions {
  const invocation = parseOptions(words, environment, host);
  if (invocation.kind === "run") return invocation.options;
  return expect.fail(JSON.stringify(invocation));
}

function problems(words: readonly string[], environment: Record<string, string> = {}, host = BARE): readonly string[] {
  const invocation = parseOptions(words, environment, host);
  return invocation.kind === "invalid" ? invocation.problems : expect.fail(JSON.stringify(invocation));
}

describe("parseOptions", () => {
  it("has a default for everything but the source", () => {
    expect(run([SOURCE])).to.deep.equal({
      nodeName: "node-a.example.org",
      source: { kind: "files", folder: "/m" },
      gossip: { port: 7946, peers: [], timing: { kind: "lan" } },
      http: { ip: "127.0.0.1", port: 17472 },
      logLevel: "info",
      ignoresExcludeLabel: false,
      ignoresCordon: false,
      electionCap: "auto",
      detectsFast: true,
    });
  });

  it("reads the cluster with what MetalLB's manifests give: variables, and arguments for the port and the log", () => {
    const environment = {
      KUBERNETES_SERVICE_HOST: "10.96.0.1",
      METALLB_NODE_NAME: "n1",
      METALLB_POD_NAME: "speaker-x2b5k",
      METALLB_HOST: "192.0.2.1",
      METALLB_ML_BIND_ADDR: "192.0.2.1",
      METALLB_ML_LABELS: "app=metallb,component=speaker",
    };
    const options = run(["--port=9121", "--log-level=info"], environment, { ...BARE, podNamespace: "lb" });
    expect(options.source).to.deep.equal({
      kind: "kubernetes",
      namespace: "lb",
      podName: "speaker-x2b5k",
      podSelector: "app=metallb,component=speaker",
      httpsMetrics: { port: 9121, tls: { minVersion: "TLSv1.3" } },
    });
    expect(options.gossip).to.deep.include({ bindAddress: "192.0.2.1", port: 7946 });
  });

  it("reads every option of the cluster", () => {
    const words = `--kubeconfig=k --namespace=lb --pod-name=p --ml-labels=a=b --port=0 --metrics-plain=127.0.0.1:9121`;
    expect(run([CLUSTER, ...words.split(" ")], {}, hostWith(["/work/k"])).source).to.deep.equal({
      kind: "kubernetes",
      kubeconfig: "/work/k",
      namespace: "lb",
      podName: "p",
      podSelector: "a=b",
      plainMetrics: { ip: "127.0.0.1", port: 9121 },
    });
    const suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    const tls = `--metrics-cert-dir=c --tls-min-version=VersionTLS12 --tls-cipher-suites=${suite} --tls-curve-preferences=29`;
    expect(run([CLUSTER, ...tls.split(" ")]).source).to.deep.equal({
      kind: "kubernetes",
      namespace: "metallb-system",
      podSelector: "",
      httpsMetrics: {
        port: 9120,
        certificateFolder: "/work/c",
        tls: { minVersion: "TLSv1.2", ciphers: "ECDHE-RSA-AES128-GCM-SHA256", groups: "X25519" },
      },
    });
  });

  it("wants TLS 1.2 allowed where its cipher suites are chosen, as MetalLB does", () => {
    const suites = "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    expect(problems([CLUSTER, suites])).to.deep.equal([
      "--tls-cipher-suites: TLS 1.3 has none to choose; give --tls-min-version=VersionTLS12, too",
    ]);
    expect(run([CLUSTER, "--tls-cipher-suites="]).source).to.have.nested.property(
      "httpsMetrics.tls.minVersion",
      "TLSv1.3",
    );
  });

  it("turns gossip off in a cluster as MetalLB does: without an address or without labels", () => {
    expect(run([CLUSTER, "--ml-bindaddr=192.0.2.1"])).to.not.have.property("gossip");
    expect(run([CLUSTER, "--ml-labels=a=b"])).to.not.have.property("gossip");
    expect(run([CLUSTER, "--ml-labels=a=b", "--ml-bindaddr=192.0.2.1"])).to.have.property("gossip");
  });

  it("takes this host's own name", () => {
    expect(run([SOURCE], {}, hostWith([], hostname())).nodeName).to.equal(hostname().toLowerCase());
  });

  it("reads every option", () => {
    const files = ["/k/secretkey", "/t.json", "/work/x.yaml"];
    const words = `-source files:m -node-name n1 --peers n2.example.org,[2001:db8::3]:1 --ml-bindport=8000
      --ml-bindaddr=192.0.2.1 --ml-secret-key-path=/k --ml-timing-file=/t.json --lb-class=example.org/lb
      --exclude-links-file=x.yaml --cache-dir=cache --http-address=[::1]:0 --log-level=debug
      --ignore-exclude-lb -ignore-cordon=true --election=metallb --fast-detection=off`.split(/\s+/);
    expect(run(words, {}, hostWith(files))).to.deep.equal({
      nodeName: "n1",
      source: { kind: "files", folder: "/work/m" },
      gossip: {
        bindAddress: "192.0.2.1",
        port: 8000,
        peers: [
          { host: "n2.example.org", port: 8000 },
          { host: "2001:db8::3", port: 1 },
        ],
        secretKeyFile: "/k/secretkey",
        timing: { kind: "file", path: "/t.json" },
      },
      http: { ip: "::1", port: 0 },
      logLevel: "debug",
      loadBalancerClass: "example.org/lb",
      ignoresExcludeLabel: true,
      ignoresCordon: true,
      electionCap: "metallb",
      detectsFast: false,
      excludeLinksFile: "/work/x.yaml",
      cacheFolder: "/work/cache",
    });
  });

  it("reads MetalLB's environment variables, and lets options win over them", () => {
    const environment = {
      METALLB_NODE_NAME: "n1",
      METALLB_ML_BIND_ADDR: "2001:db8::1",
      METALLB_ML_BIND_PORT: "7000",
      METALLB_ML_SECRET_KEY_PATH: "/k",
      CACHE_DIRECTORY: "/c1:/c2",
    };
    const options = run([SOURCE, "--ml-bindport=7001"], environment, hostWith(["/k/secretkey"]));
    expect(options.nodeName).to.equal("n1");
    expect(options.cacheFolder).to.equal("/c1");
    expect(options.gossip).to.deep.include({ bindAddress: "2001:db8::1", port: 7001, secretKeyFile: "/k/secretkey" });
  });

  it("takes an empty variable for none, and an empty --ml-bindaddr for gossip off", () => {
    expect(run([SOURCE], { METALLB_ML_BIND_ADDR: "", METALLB_NODE_NAME: "" }).gossip).to.be.an("object");
    expect(run([SOURCE, "--ml-bindaddr="])).to.not.have.property("gossip");
    expect(run([SOURCE, "--ml-bindaddr", ""])).to.not.have.property("gossip");
  });

  it("uses MetalLB's files where they are", () => {
    const host = hostWith(["/etc/metallb/memberlist/config.json", "/etc/metallb/excludel2.yaml"]);
    const options = run([SOURCE, "--ml-wan-config"], {}, host);
    expect(options.gossip?.timing).to.deep.equal({ kind: "file", path: "/etc/metallb/memberlist/config.json" });
    expect(options.excludeLinksFile).to.equal("/etc/metallb/excludel2.yaml");
    expect(run([SOURCE, "--exclude-links-file="], {}, host)).to.not.have.property("excludeLinksFile");
    expect(run([SOURCE, "--ml-wan-config"]).gossip?.timing).to.deep.equal({ kind: "wan" });
  });

  it("moves the port alone with MetalLB's --health-probe-port", () => {
    expect(run([SOURCE, "--health-probe-port=8080"]).http).to.deep.equal({ ip: "127.0.0.1", port: 8080 });
  });

  it("lists every problem at once", () => {
    const words = ["--ml-bindport=79x", "--election=best", "--peer", "a", "extra", "--log-level"];
    expect(problems(words)).to.deep.equal([
      "--peer is not an option of the speaker; is --peers meant?",
      '"extra" is not an option',
      "--log-level needs a value: all|debug|info|warn|error|none",
      "--source is missing: give --source=files:DIR, a folder of manifests, or --source=kubernetes",
      '--ml-bindport: "79x" is no port, which is a number from 1 to 65535',
      '--election: "best" is none of auto, metallb, arpeggio',
    ]);
  });

  it("names the variable that a bad value came from", () => {
    expect(problems([SOURCE], { METALLB_ML_BIND_PORT: "0" })).to.deep.equal([
      'METALLB_ML_BIND_PORT: "0" is no port, which is a number from 1 to 65535',
    ]);
  });

  for (const [words, begin] of [
    [["--source=files:"], '--source: "files:" is neither of the form files:DIR nor kubernetes'],
    [[CLUSTER, "--namespace=A"], '--namespace: "A" cannot name a namespace'],
    [[CLUSTER, "--port=65536"], '--port: "65536" is no port, which is a number from 0 (off) to 65535'],
    [[CLUSTER, "--metrics-plain=9121"], '--metrics-plain: "9121" is not of the form'],
    [[CLUSTER, "--kubeconfig=/k"], "--kubeconfig: /k cannot be read"],
    [[CLUSTER, "--peers=a"], '--peers: there is no gossip to meet them, because --ml-bindaddr is ""'],
    [
      [SOURCE, "--http-address=127.0.0.1:1", "--health-probe-port=1"],
      "--http-address and --health-probe-port are both",
    ],
    [[SOURCE, "--http-address=localhost:1"], '--http-address: "localhost:1" is not of the form'],
    [[SOURCE, "--http-address=:80"], '--http-address: ":80" is not of the form'],
    [[SOURCE, "--ml-secret-key-path=/k"], "--ml-secret-key-path: /k/secretkey cannot be read"],
    [[SOURCE, "--ml-timing-file=/t"], "--ml-timing-file: /t cannot be read"],
    [[SOURCE, "--exclude-links-file=/x"], "--exclude-links-file: /x cannot be read"],
    [[SOURCE, "--ml-bindaddr=0.0.0.0"], "--ml-bindaddr: 0.0.0.0 is no address under which others reach this node"],
    [[SOURCE, "--ml-bindaddr=ff02::1"], "--ml-bindaddr: ff02::1 is no address under which others reach this node"],
    [[SOURCE, "--ml-bindaddr=n1"], '--ml-bindaddr: "n1" is no IP address'],
    [[SOURCE, "--ml-bindaddr=", "--peers=a"], '--peers: there is no gossip to meet them, because --ml-bindaddr is ""'],
    [[SOURCE, "--node-name=N1"], '--node-name: "N1" cannot name a Node'],
    [[SOURCE, "--node-name="], '--node-name: "" cannot name a Node'],
    [[SOURCE, "--ignore-cordon=maybe"], '--ignore-cordon: "maybe" is neither true nor false'],
    [[SOURCE, "--node-name", "--ignore-cordon"], "--node-name needs a value: NAME"],
  ] as const) {
    it(`refuses ${words.join(" ")}`, () => {
      const found = problems(words);
      expect(found, found.join("\n")).to.have.length(1);
      expect(found[0]?.slice(0, begin.length)).to.equal(begin);
    });
  }

  it("asks for --node-name when the host's name cannot name a Node", () => {
    expect(problems([SOURCE], {}, hostWith([], "my_host"))[0]).to.match(/^--node-name is needed, because .*"my_host"/);
  });

  it("accepts what MetalLB's manifests pass, and says aloud what has no effect", () => {
    const words = [SOURCE, "--port=9120", "--frrk8s-secret-passthrough", "--bgp-debounce-timeout", "3000"];
    const environment = { METALLB_HOST: "192.0.2.1", METALLB_POD_NAME: "speaker-1", METALLB_BGP_TYPE: "frr" };
    const invocation = parseOptions(words, environment, BARE);
    expect(invocation).to.have.property("kind", "run");
    expect(invocation).to.have.deep.property("notes", [
      "--port is given, but has no effect with --source=files",
      "--bgp-debounce-timeout is given, but has no effect here",
      "--frrk8s-secret-passthrough is given, but has no effect here",
      "METALLB_BGP_TYPE is set, but this speaker does not speak BGP",
    ]);
  });

  for (const word of ["-h", "-help", "--help"]) {
    it(`${word} wins over whatever else is wrong`, () => {
      expect(parseOptions(["--nonsense", word], {}, BARE)).to.deep.equal({ kind: "help" });
    });
  }

  it("knows --version", () => expect(parseOptions(["-version"], {}, BARE)).to.deep.equal({ kind: "version" }));

  for (const { name, placeholder, source } of OPTION_TABLE) {
    it(`--${name} is read: a value that cannot be right changes what comes out`, () => {
      const word = placeholder === undefined ? `--${name}` : `--${name}=\u0001`;
      const base = source === "kubernetes" ? CLUSTER : SOURCE;
      expect(parseOptions([base, word], {}, BARE)).to.not.deep.equal(parseOptions([base], {}, BARE));
    });
  }
});

describe("parseOptions, --peers", () => {
  for (const [text, peers] of [
    ["", []],
    ["a", [["a", 7946]]],
    [
      "a.example.org.:1, b_2",
      [
        ["a.example.org.", 1],
        ["b_2", 7946],
      ],
    ],
    [
      "192.0.2.1,192.0.2.1:2",
      [
        ["192.0.2.1", 7946],
        ["192.0.2.1", 2],
      ],
    ],
    [
      "2001:db8::1,[2001:DB8:0::2],[2001:db8::3]:3",
      [
        ["2001:db8::1", 7946],
        ["2001:db8::2", 7946],
        ["2001:db8::3", 3],
      ],
    ],
    ["a,a:7946,a", [["a", 7946]]],
  ] as const) {
    it(`reads "${text}"`, () => {
      const expected = peers.map(([host, port]) => ({ host, port }));
      expect(run([SOURCE, `--peers=${text}`]).gossip?.peers).to.deep.equal(expected);
    });
  }
  for (const entry of [
    "",
    "a:0",
    "a:65536",
    "a:b",
    "192.0.2.1:",
    "192.0.2",
    "[192.0.2.1]",
    "[2001:db8::1",
    "2001:db8::1:x",
    "[2001:db8::1]7",
    "a b",
    "-a",
  ]) {
    it(`refuses "a,${entry}"`, () => {
      expect(problems([SOURCE, `--peers=ok,${entry}`])).to.deep.equal([
        `--peers: "${entry}" is no host, host:port, address or [IPv6]:port`,
      ]);
    });
  }
});
