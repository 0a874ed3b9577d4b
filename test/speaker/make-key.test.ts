import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runMakeKey } from "../../speaker/make-key.ts";

interface Outcome {
  readonly code: number;
  readonly text: string;
}

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: unknown;
}

describe("make-key", () => {
  const received: Received[] = [];
  let answer = { status: 201, body: {} };
  let folder = "";
  let server: Server;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "make-key-"));
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const { method, url } = request;
        received.push({ method, url, body: JSON.parse(Buffer.concat(parts).toString()) });
        response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const config = {
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
      users: [{ name: "u", user: {} }],
    };
    writeFileSync(join(folder, "config"), JSON.stringify(config));
  });

  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  beforeEach(() => {
    received.length = 0;
    answer = { status: 201, body: {} };
  });

  async function run(...words: readonly string[]): Promise<Outcome> {
    const texts: string[] = [];
    const put = (text: string) => void texts.push(text);
    const host = { environment: { METALLB_NAMESPACE: "from-environment" }, print: put, complain: put };
    const code = await runMakeKey(["--kubeconfig", join(folder, "config"), ...words], host);
    return { code, text: texts.join("") };
  }

  function onlyBody(): { data: { secretkey: string } } {
    const [only, ...others] = received;
    if (only === undefined || others.length > 0) throw new Error(`${received.length} requests instead of one`);
    return only.body as { data: { secretkey: string } };
  }

  it("creates the Secret with 22 characters, as MetalLB makes them, and without an owner", async () => {
    expect(await run()).to.deep.equal({ code: 0, text: "Secret from-environment/memberlist is made\n" });
    expect(received.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      "POST /api/v1/namespaces/from-environment/secrets",
    ]);
    const { data, ...rest } = onlyBody();
    expect(rest).to.deep.equal({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "memberlist", namespace: "from-environment" },
      type: "Opaque",
    });
    expect(Buffer.from(data.secretkey, "base64").toString()).to.match(/^[A-Za-z0-9+/]{22}$/);
  });

  it("makes another key each time", async () => {
    await run();
    await run();
    const [first, second] = received.map(({ body }) => (body as { data: { secretkey: string } }).data.secretkey);
    expect(first).to.not.equal(second);
  });

  it("leaves a Secret that is there as it is, which is success", async () => {
    answer = { status: 409, body: { reason: "AlreadyExists" } };
    expect(await run("--namespace", "other", "--secret-name", "key")).to.deep.equal({
      code: 0,
      text: "Secret other/key is there already\n",
    });
    expect(received).to.have.length(1);
  });

  it("fails with the API server's sentence, so that its Job tries again", async () => {
    answer = { status: 403, body: { message: "secrets is forbidden" } };
    expect(await run()).to.deep.equal({
      code: 1,
      text: "make-key: Secret from-environment/memberlist is not created: secrets is forbidden\n",
    });
  });

  for (const { words, sentence } of [
    { words: ["--namespace", "Not_A_Name"], sentence: '"Not_A_Name" cannot name a namespace' },
    { words: ["--nonsense"], sentence: "Unknown option '--nonsense'" },
    { words: ["word"], sentence: "Unexpected argument 'word'" },
  ]) {
    it(`refuses ${words.join(" ")}`, async () => {
      const { code, text } = await run(...words);
      expect(code).to.equal(2);
      expect(text).to.include(sentence);
      expect(received).to.deep.equal([]);
    });
  }
});
