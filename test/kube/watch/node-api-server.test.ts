import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { EndableApiServer } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

const answerEmpty: Answering = (_request, response) => response.end("{}");

/** What a stream told, as text, until its end. */
async function streamed(api: EndableApiServer, path: string): Promise<readonly string[]> {
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    api.stream(
      { method: "GET", path },
      {
        opened: (status, retryAfterSeconds) => told.push(`opened ${status} ${retryAfterSeconds ?? "-"}`),
        data: (bytes) => told.push(Buffer.from(bytes).toString()),
        ended: (error) => {
          told.push(`ended ${error ?? "whole"}`);
          resolve();
        },
      },
    );
  });
  return told;
}

describe("openApiServer", () => {
  let folder = "";
  let server: Server;
  let answering = answerEmpty;
  let sockets: Socket[] = [];
  let api: EndableApiServer;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arpeggio-api-"));
    sockets = [];
    answering = answerEmpty;
    server = createServer((request, response) => answering(request, response));
    server.on("connection", (socket) => sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await writeFile(join(folder, "token"), "first\n");
    api = await openApiServer({ kubeconfig: await kubeconfigFor((server.address() as AddressInfo).port) });
  });

  afterEach(async () => {
    api.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });

  async function kubeconfigFor(port: number): Promise<string> {
    const path = join(folder, `config-${port}`);
    const user = { "auth-provider": { name: "tokenFile", config: { tokenFile: join(folder, "token") } } };
    const cluster = { server: `http://127.0.0.1:${port}/root`, "insecure-skip-tls-verify": true };
    const config = {
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(path, JSON.stringify(config));
    return path;
  }

  it("sends method, path, query, forms and body, and reads status and JSON", async () => {
    let seen: unknown;
    answering = ({ method, url, headers }, response) => {
      seen = { method, url, type: headers["content-type"], accept: headers.accept };
      response.writeHead(201).end('{"kind":"Service"}');
    };
    const answer = await api.request({
      method: "PATCH",
      path: "/api/v1/services",
      query: { fieldManager: "a b" },
      body: { a: 1 },
      contentType: "application/merge-patch+json",
    });
    expect(answer).to.deep.equal({ status: 201, body: { kind: "Service" } });
    expect(seen).to.deep.equal({
      method: "PATCH",
      url: "/root/api/v1/services?fieldManager=a+b",
      type: "application/merge-patch+json",
      accept: "application/json",
    });
  });

  it("gives an HTTP error as an answer, with Retry-After and a body that is no JSON as undefined", async () => {
    answering = (_request, response) => response.writeHead(429, { "Retry-After": "7" }).end("busy");
    expect(await api.request({ method: "GET", path: "/a" })).to.deep.equal({
      status: 429,
      body: undefined,
      retryAfterSeconds: 7,
    });
  });

  it("rejects with ERR_API_UNREACHABLE when nobody listens", async () => {
    const other = await openApiServer({ kubeconfig: await kubeconfigFor(1) });
    const error: unknown = await other.request({ method: "GET", path: "/a" }).catch((cause: unknown) => cause);
    expect(error).to.include({ code: "ERR_API_UNREACHABLE" });
    expect((error as Error).message).to.match(/^GET http:\/\/127\.0\.0\.1:1\/root\/a: .*ECONNREFUSED/);
  });

  it("rejects with ERR_CONFIG_INVALID without a readable kubeconfig", async () => {
    const error: unknown = await openApiServer({ kubeconfig: join(folder, "none") }).catch((cause: unknown) => cause);
    expect(error).to.include({ code: "ERR_CONFIG_INVALID" });
  });

  it("streams an answer as it comes, and says when it was cut", async () => {
    answering = ({ url }, response) => {
      response.writeHead(200);
      response.write("one");
      if (url === "/root/cut") setImmediate(() => response.destroy());
      else response.end();
    };
    expect(await streamed(api, "/whole")).to.deep.equal(["opened 200 -", "one", "ended whole"]);
    const [opened, ...others] = await streamed(api, "/cut");
    expect(opened).to.equal("opened 200 -");
    expect(others.at(-1)).to.match(/^ended (?!whole)/);
  });

  it("reads a long answer piece by piece, one a turn of the event loop", async () => {
    const long = "x".repeat(2_000_000);
    answering = (_request, response) => response.end(long);
    let inTurn = 0;
    let most = 0;
    let bytes = 0;
    const turn = (): void => {
      inTurn = 0;
      if (bytes < long.length) setImmediate(turn);
    };
    turn();
    await new Promise<void>((resolve) => {
      api.stream(
        { method: "GET", path: "/long" },
        {
          opened: () => {},
          data: (piece) => {
            bytes += piece.length;
            most = Math.max(most, ++inTurn);
          },
          ended: () => resolve(),
        },
      );
    });
    expect(bytes).to.equal(long.length);
    expect(most).to.be.at.most(2);
  });

  it("tells nothing after a stream was ended by its reader, and closes its connection", async () => {
    const told: string[] = [];
    await new Promise<void>((resolve) => {
      answering = (_request, response) => {
        response.on("close", resolve);
        response.writeHead(200).write("x");
      };
      const end = api.stream(
        { method: "GET", path: "/watch" },
        {
          opened: () => told.push("opened"),
          data: () => {
            told.push("data");
            end();
          },
          ended: () => told.push("ended"),
        },
      );
    });
    expect(told).to.deep.equal(["opened", "data"]);
  });

  it("uses one connection for requests one after the other, and repeats a GET that meets a dead one", async () => {
    for (let count = 0; count < 3; count++) await api.request({ method: "GET", path: "/a" });
    expect(sockets).to.have.length(1);
    // Closed in the instant in which the client sends: it sees a reset instead of an answer.
    let isFirst = true;
    answering = (request, response) => {
      if (!isFirst) response.end("{}");
      else request.socket.resetAndDestroy();
      isFirst = false;
    };
    expect((await api.request({ method: "GET", path: "/a" })).status).to.equal(200);
    isFirst = true;
    const error: unknown = await api.request({ method: "POST", path: "/a" }).catch((cause: unknown) => cause);
    expect(error).to.include({ code: "ERR_API_UNREACHABLE" });
  });

  it("reads the token file anew after it was refused", async () => {
    const tokens: unknown[] = [];
    answering = ({ headers }, response) => {
      tokens.push(headers.authorization);
      response.end("{}");
    };
    await api.request({ method: "GET", path: "/a" });
    await writeFile(join(folder, "token"), "second");
    await api.request({ method: "GET", path: "/a" });
    api.refreshCredentials();
    await api.request({ method: "GET", path: "/a" });
    expect(tokens).to.deep.equal(["Bearer first", "Bearer first", "Bearer second"]);
  });

  it("sends nothing when it is asked at the last moment and may not any more", async () => {
    let arrived = 0;
    answering = (request, response) => {
      arrived++;
      answerEmpty(request, response);
    };
    const asked: number[] = [];
    const ask = (mayBegin: boolean) =>
      api.request({
        method: "POST",
        path: "/x",
        body: { a: 1 },
        mayBegin: () => {
          asked.push(sockets.length);
          return mayBegin;
        },
      });
    const refused = await ask(false).catch((error: { readonly code: string }) => error.code);
    expect(refused).to.equal("ERR_API_WITHHELD");
    expect((await ask(true)).status).to.equal(200);
    // On a connection that is there already, too.
    expect((await ask(true)).status).to.equal(200);
    expect(await ask(false).catch((error: { readonly code: string }) => error.code)).to.equal("ERR_API_WITHHELD");
    expect(arrived).to.equal(2);
    // The first time it was asked the connection was made before: nothing can hold up what is allowed then.
    expect(asked).to.deep.equal([1, 2, 2, 2]);
  });

  it("ends requests under way when its connections are ended, and goes on with others", async () => {
    answering = () => {};
    const hanging = api.request({ method: "GET", path: "/x" }).catch((error: Error) => error.message);
    while (sockets.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    api.endConnections();
    expect(await hanging).to.match(/the connection was ended$/);
    answering = answerEmpty;
    expect((await api.request({ method: "GET", path: "/x" })).status).to.equal(200);
    expect(sockets).to.have.length(2);
  });

  it("gives up a single request after the time that it names", async () => {
    answering = () => {};
    const said = await api.request({ method: "GET", path: "/x", limitMs: 50 }).catch((error: Error) => error.message);
    expect(said).to.match(/no answer within 0.05 s$/);
  });

  it("ends what is open when it is closed", async () => {
    answering = (_request, response) => {
      response.writeHead(200).write("x");
      setImmediate(() => api.close());
    };
    expect((await streamed(api, "/watch")).at(-1)).to.equal("ended closed");
  });
});
