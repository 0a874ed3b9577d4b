import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect } from "chai";
import { SeededRandom } from "../../src/base/random.ts";
import { type MetricsListeners, openMetricsListeners } from "../../src/daemon/metrics-listeners.ts";
import { makeSelfSigned } from "../../src/http/self-signed.ts";
import { parseIp } from "../../src/net/ip.ts";

const LOOPBACK = parseIp("127.0.0.1") ?? expect.fail();
const TLS = { minVersion: "TLSv1.2" } as const;
const LIMIT_MS = 40_000;

/** Names and kind of key of the certificate that a client is shown. */
function shown(port: number | undefined): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { host: "127.0.0.1", port: port ?? 0, rejectUnauthorized: false };
  const socket = connect(options, () => {
    const { subjectaltname } = socket.getPeerCertificate();
    const kind = socket.getPeerX509Certificate()?.publicKey.asymmetricKeyType;
    socket.destroy();
    resolve(`${subjectaltname}, ${kind}`);
  });
  socket.on("error", reject);
  return promise;
}

async function shownAfterAll(port: number | undefined, wanted: string): Promise<void> {
  const endMs = performance.now() + LIMIT_MS;
  let last = "";
  while (last !== wanted && performance.now() < endMs) last = await shown(port);
  expect(last).to.equal(wanted);
}

describe("openMetricsListeners", () => {
  let folder = "";
  let listeners: MetricsListeners | undefined;
  let logged: string[] = [];

  const note = (message: string) => void logged.push(message);
  const ports = {
    nodeName: "n1.example.org",
    ip: LOOPBACK,
    metrics: () => Promise.resolve("arpeggio_build_info 1\n"),
    authorizer: { decide: () => Promise.resolve({ kind: "allowed" } as const) },
    random: new SeededRandom(1),
    wallMs: () => Date.now(),
    log: { debug: note, info: note, warn: note, error: note },
  };

  async function open(options: Parameters<typeof openMetricsListeners>[0]): Promise<MetricsListeners> {
    listeners = await openMetricsListeners(options, ports);
    return listeners;
  }

  function writeCertificate(nodeName: string): void {
    const subject = { nodeName, ips: [], wallMs: Date.now(), keyKind: "ecdsa", random: new SeededRandom(2) } as const;
    const { cert, key } = makeSelfSigned(subject);
    writeFileSync(join(folder, "tls.crt"), cert);
    writeFileSync(join(folder, "tls.key"), key);
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "metrics-listeners-"));
    logged = [];
  });

  afterEach(async () => {
    await listeners?.close();
    listeners = undefined;
    rmSync(folder, { recursive: true });
  });

  it("opens nothing when nothing is asked for", async () => {
    const { httpsPort, plainPort } = await open({});
    expect({ httpsPort, plainPort }).to.deep.equal({ httpsPort: undefined, plainPort: undefined });
  });

  it("makes a certificate for this node, with RSA where the chosen cipher suites want that", async () => {
    const { httpsPort } = await open({ httpsMetrics: { port: 0, tls: TLS } });
    expect(await shown(httpsPort)).to.equal("DNS:n1.example.org, IP Address:127.0.0.1, ec");
    await listeners?.close();
    const tls = { ...TLS, ciphers: "ECDHE-RSA-AES128-GCM-SHA256" };
    const second = await open({ httpsMetrics: { port: 0, tls } });
    expect(await shown(second.httpsPort)).to.equal("DNS:n1.example.org, IP Address:127.0.0.1, rsa");
  });

  it("shows the certificate of the folder, and the next one as soon as both files are there", async () => {
    writeCertificate("first.example.org");
    const { httpsPort } = await open({ httpsMetrics: { port: 0, tls: TLS, certificateFolder: folder } });
    expect(await shown(httpsPort)).to.equal("DNS:first.example.org, ec");
    writeCertificate("second.example.org");
    await shownAfterAll(httpsPort, "DNS:second.example.org, ec");
    expect(logged.at(-1)).to.equal("certificate of the metrics replaced");
  });

  it("does not start without the files that were named", async () => {
    const error = await open({ httpsMetrics: { port: 0, tls: TLS, certificateFolder: folder } }).catch((e: Error) => e);
    expect(error).to.include({
      code: "ERR_CONFIG_INVALID",
      message: `${folder}/tls.crt, of --metrics-cert-dir, is not there`,
    });
  });

  it("serves the metrics plainly, too, where that is asked for", async () => {
    const { plainPort } = await open({ plainMetrics: { ip: LOOPBACK, port: 0 } });
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    get({ host: "127.0.0.1", port: plainPort, path: "/metrics", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
    expect(await promise).to.equal(200);
  });
});
