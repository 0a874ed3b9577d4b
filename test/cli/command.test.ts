/** The command as a user runs it, against HTTP servers of the speaker's own code. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { afterEach } from "mocha";
import { ClusterDecisionSchema } from "../../api/cluster-decision.ts";
import {
  type ClusterServiceDecisionDocument,
  ClusterServiceDecisionSchema,
} from "../../api/cluster-service-decision.ts";
import { ClusterStatusSchema } from "../../api/cluster-status.ts";
import type { StatusDocument } from "../../api/status.ts";
import { runCommand } from "../../cli/command.ts";
import { createLog } from "../../src/base/log.ts";
import type { HttpServer } from "../../src/http/app.ts";
import { compileCheck } from "../../src/http/document-check.ts";
import { openHttpServer } from "../../src/http/server.ts";
import type { Ip } from "../../src/net/ip.ts";
import { ADDRESS } from "../http/example-documents.ts";
import { seenBy, statusOf } from "./documents.ts";

/** Addresses that the speakers have a decision about. */
const KNOWN: readonly string[] = [ADDRESS.address, "192.0.2.100"];
const LOOPBACK = "127.0.0.1" as Ip;

async function urls(...opened: readonly Promise<string>[]): Promise<string> {
  return `--urls=${(await Promise.all(opened)).join(",")}`;
}

describe("arpeggio, the command", () => {
  const servers: Pick<HttpServer, "close">[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  /** A speaker's HTTP face; its URL. */
  async function speaker(status: () => StatusDocument): Promise<string> {
    const { node } = status();
    const server = await openHttpServer(
      {
        version: "1.2.3",
        readStatus: status,
        readAddress: (ip) =>
          KNOWN.includes(ip)
            ? { ...ADDRESS, address: ip, node, state: node === "n1" ? "leading" : "follower" }
            : undefined,
        health: () => ({ ok: true, sentence: "ok" }),
        readiness: () => ({ ok: status().ready.isReady, sentences: [] }),
        metrics: () => Promise.resolve(""),
        setStepDown: () => undefined,
      },
      { ip: LOOPBACK, port: 0 },
      createLog("none", () => undefined, Date.now),
    );
    servers.push(server);
    return `http://${LOOPBACK}:${server.port}`;
  }

  async function stranger(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, LOOPBACK);
    await new Promise((resolve) => server.once("listening", resolve));
    servers.push({
      close: async () => {
        server.closeAllConnections();
        server.close();
      },
    });
    return `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`;
  }

  it("ends with 0 when all speakers agree, as text and as JSON that fits its schema", async () => {
    const where = await urls(...["n1", "n2", "n3"].map((node) => speaker(() => statusOf(node))));
    const [text, status, decision] = await Promise.all([
      runCommand(["status", where]),
      runCommand(["-o", "json", "status", where]),
      runCommand(["why", ADDRESS.address, where, "--output=json"]),
    ]);
    expect(text.output).to.match(/\nall 3 speakers answer and agree\n$/);
    compileCheck("status", ClusterStatusSchema)(JSON.parse(status.output));
    compileCheck("decision", ClusterDecisionSchema)(JSON.parse(decision.output));
    expect([text.exitCode, status.exitCode, decision.exitCode]).to.deep.equal([0, 0, 0]);
  });

  it("ends with 1 when speakers disagree twice", async () => {
    const split = { addresses: [seenBy("n3", "192.0.2.100", { leader: "n3", state: "leading" })] };
    const { exitCode, output } = await runCommand([
      "status",
      await urls(
        speaker(() => statusOf("n1")),
        speaker(() => statusOf("n3", split)),
      ),
    ]);
    expect(output).to.include("! the speakers disagree about 192.0.2.100\n");
    expect(exitCode).to.equal(1);
  });

  it("takes a disagreement that is over at the second look for a move, not for a problem", async () => {
    let looks = 0;
    const moving = (): StatusDocument =>
      statusOf("n2", {
        addresses: [seenBy("n2", "192.0.2.100", looks++ < 2 ? { leader: "n2", state: "leading" } : {})],
      });
    const { exitCode, output } = await runCommand([
      "status",
      await urls(
        speaker(() => statusOf("n1")),
        speaker(moving),
      ),
    ]);
    expect(output).to.match(/\nall 2 speakers answer and agree\n$/);
    expect(exitCode).to.equal(0);
  });

  it("goes on without a speaker that gives no answer, and ends with 1", async () => {
    const closed = await stranger(() => undefined);
    await servers.pop()?.close();
    const { exitCode, output } = await runCommand([
      "why",
      ADDRESS.address,
      `${await urls(speaker(() => statusOf("n1")))},${closed}`,
    ]);
    expect(output).to.include("leader   n1 for 3m4s, before that n2\n");
    expect(output).to.include(`! ${closed} gives no answer: connection refused\n`);
    expect(exitCode).to.equal(1);
  });

  for (const { name, answer, sentence } of [
    {
      name: "a program that is no speaker",
      answer: (_request, response) => response.writeHead(404).end("<html>"),
      sentence: "it answers 404: is it a speaker of Arpeggio?",
    },
    {
      name: "a page",
      answer: (_request, response) => response.end("<html>"),
      sentence: "it answers something that is not JSON: is it a speaker of Arpeggio?",
    },
    {
      name: "a speaker with a fault",
      answer: (_request, response) =>
        response
          .writeHead(500)
          .end(JSON.stringify({ code: "ERR_THREAD_SILENT", sentence: "the speaker is still starting" })),
      sentence: "it answers 500: the speaker is still starting",
    },
    {
      name: "JSON of another shape",
      answer: (_request, response) => response.end("{}"),
      sentence: 'its answer is not understood at "", which must have required properties',
    },
    {
      name: "a connection that breaks",
      answer: (request) => request.socket.destroy(),
      sentence: "the connection broke",
    },
  ] satisfies { name: string; answer: RequestListener; sentence: string }[]) {
    it(`says what is wrong with ${name}`, async () => {
      const { exitCode, output } = await runCommand(["status", await urls(stranger(answer))]);
      expect(output).to.include(sentence);
      expect(exitCode).to.equal(1);
    });
  }

  it("reads a newer speaker that says more than this version knows", async () => {
    const { addresses, ...rest } = statusOf("n1");
    const newer = {
      ...rest,
      weather: "fine",
      addresses: addresses.map((address) => ({ ...address, weather: "fine" })),
    };
    const { exitCode, output } = await runCommand([
      "status",
      await urls(stranger((_request, response) => response.end(JSON.stringify(newer)))),
    ]);
    expect(output).to.include("\nthe speaker answers\n");
    expect(exitCode).to.equal(0);
  });

  it("ends with 1 for an address that no Service has", async () => {
    const { exitCode, output } = await runCommand(["why", "192.0.2.9", await urls(speaker(() => statusOf("n1")))]);
    expect(output).to.match(/^! no Service has the address 192\.0\.2\.9: so says /);
    expect(exitCode).to.equal(1);
  });

  it("prints the decision about every address of a Service, and as JSON that fits its schema", async () => {
    const [first, second] = ["192.0.2.100", ADDRESS.address] as const;
    const addresses = (node: string) => [
      seenBy(node, first),
      seenBy(node, second),
      seenBy(node, "192.0.2.101", { services: ["default/web-2", "other/web"] }),
    ];
    const speakers = ["n1", "n2"].map((node) => speaker(() => statusOf(node, { addresses: addresses(node) })));
    const where = await urls(...speakers);
    const { exitCode, output } = await runCommand(["why", "default/web", where]);
    expect(output.split("\n").filter((line) => line.startsWith("address "))).to.deep.equal([
      `address  ${first}`,
      `address  ${second}`,
    ]);
    expect(output).to.match(/\n\nall 2 speakers say the same\n$/);
    expect(exitCode).to.equal(0);
    const json = await runCommand(["why", "default/web", where, "-o", "json"]);
    const document = JSON.parse(json.output) as ClusterServiceDecisionDocument;
    compileCheck("decision", ClusterServiceDecisionSchema)(document);
    expect(document.service).to.equal("default/web");
    expect(document.decisions.map(({ address, decision }) => [address, decision?.leader])).to.deep.equal([
      [first, "n1"],
      [second, "n1"],
    ]);
  });

  it("ends with 1 for a Service that no speaker knows an address of", async () => {
    const where = await urls(...["n1", "n2"].map((node) => speaker(() => statusOf(node))));
    const { exitCode, output } = await runCommand(["why", "default/wbe", where]);
    expect(output).to.equal(
      "! Service default/wbe has no address: so say n1 and n2. Is there such a Service, of type LoadBalancer, with an address in its status?\n",
    );
    expect(exitCode).to.equal(1);
  });

  it("ends with 2 and every problem when the command line is wrong", async () => {
    const { exitCode, output, complaint } = await runCommand(["why", "web", "-o", "yaml"]);
    expect(complaint).to.equal(
      'arpeggio: "web" is not an IP address or NAMESPACE/SERVICE\narpeggio: --output is "yaml", but can be text or json\narpeggio: arpeggio --help explains\n',
    );
    expect({ exitCode, output }).to.deep.equal({ exitCode: 2, output: "" });
  });
});
