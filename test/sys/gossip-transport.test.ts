import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { GossipStream, StreamHandler, Transport } from "../../src/gossip/ports.ts";
import { parseIp } from "../../src/net/ip.ts";
import { openGossipTransport } from "../../src/sys/gossip-transport.ts";

const at = (text: string, port = 0): Endpoint => ({ ip: parseIp(text) ?? expect.fail(text), port });
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

/** What a transport tells its user, and a way to wait for it. */
class Heard {
  readonly events: string[] = [];
  readonly streams: GossipStream[] = [];
  reply = "";
  #wake: () => void = () => {};

  say(event: string): void {
    this.events.push(event);
    this.#wake();
  }

  handler(name: string): Required<StreamHandler> {
    return {
      opened: () => this.say(`${name} opened`),
      data: (data) => {
        this.say(`${name} data ${text(data).slice(0, 20)} ${data.length}`);
        expect(data).not.to.be.instanceOf(Buffer);
      },
      closed: (failure) => this.say(`${name} ${failure}`),
    };
  }

  async until(event: string): Promise<void> {
    while (!this.events.includes(event)) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

describe("gossip transport", () => {
  const open: Transport[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((transport) => transport.close()));
  });

  async function start(endpoint: Endpoint): Promise<{ transport: Transport; heard: Heard }> {
    const transport = await openGossipTransport(endpoint);
    open.push(transport);
    const heard = new Heard();
    transport.listen({
      datagram: (from, data) => heard.say(`datagram ${from.ip}:${from.port} ${text(data)}`),
      sendFailed: (to) => heard.say(`failed ${to.ip}:${to.port}`),
      accepted: (stream) => {
        heard.streams.push(stream);
        heard.say(`accepted ${stream.remote.ip}`);
        const handler = heard.handler("acceptor");
        return {
          ...handler,
          data: (data) => {
            handler.data(data);
            if (heard.reply === "") return;
            stream.write(bytes(heard.reply));
            stream.close();
          },
        };
      },
    });
    return { transport, heard };
  }

  it("hands a slow receiver a few datagrams a turn, all of them in their order", async () => {
    const receiver = await openGossipTransport(at("127.0.0.1"));
    open.push(receiver);
    const { transport: sender } = await start(at("127.0.0.1"));
    const sent = Array.from({ length: 20 }, (_, number) => String(number));
    const received: string[] = [];
    let [inTurn, most] = [0, 0];
    let waited = false;
    receiver.listen({
      datagram: (_, data) => {
        received.push(text(data));
        most = Math.max(most, ++inTurn);
        waited ||= receiver.hasUnread === true;
        for (const endMs = performance.now() + 2; performance.now() < endMs; );
      },
      sendFailed: () => {},
      accepted: () => ({ opened: () => {}, data: () => {}, closed: () => {} }),
    });
    for (const one of sent) sender.sendDatagram(receiver.local, bytes(one));
    while (received.length < sent.length) {
      await new Promise((resolve) => setImmediate(resolve));
      inTurn = 0;
    }
    expect(received).to.deep.equal(sent);
    expect(most).to.be.at.most(4);
    expect(waited).to.equal(true);
    expect(receiver.hasUnread).to.equal(false);
  });

  it("keeps the loop awake for nothing after a datagram", async () => {
    const receiver = await openGossipTransport(at("127.0.0.1"));
    open.push(receiver);
    const { transport: sender } = await start(at("127.0.0.1"));
    const received = new Promise<readonly string[]>((resolve) => {
      receiver.listen({
        datagram: () => resolve(process.getActiveResourcesInfo()),
        sendFailed: () => {},
        accepted: () => ({ opened: () => {}, data: () => {}, closed: () => {} }),
      });
    });
    sender.sendDatagram(receiver.local, bytes("x"));
    expect(await received).not.to.include("Immediate");
  });

  for (const [near, far] of [
    ["127.0.61.1", "127.0.61.2"],
    ["::1", "::1"],
  ] as const) {
    it(`carries datagrams from the bound address and port: ${near}`, async () => {
      const a = await start(at(near));
      const b = await start(at(far));
      a.transport.sendDatagram(b.transport.local, bytes("hello"));
      await b.heard.until(`datagram ${near}:${a.transport.local.port} hello`);
    });

    it(`carries a request and its answer: ${near}`, async () => {
      const a = await start(at(near));
      const b = await start(at(far));
      b.heard.reply = "answer";
      const stream = a.transport.dial(b.transport.local, a.heard.handler("dialer"));
      stream.write(bytes("request"));
      await a.heard.until("dialer closed");
      expect(a.heard.events).to.deep.equal(["dialer opened", "dialer data answer 6", "dialer closed"]);
      expect(b.heard.events).to.include("acceptor data request 7");
    });
  }

  it("uses one port for both", async () => {
    const { transport } = await start(at("127.0.61.1"));
    expect(transport.local.port).to.be.greaterThan(0);
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: "127.0.61.1", port: transport.local.port }, () => {
        socket.destroy();
        resolve();
      });
      socket.once("error", reject);
    });
  });

  it("says refused where nobody listens, and never at once", async () => {
    const a = await start(at("127.0.61.1"));
    const b = await openGossipTransport(at("127.0.61.2"));
    const { local } = b;
    await b.close();
    a.transport.dial(local, a.heard.handler("dialer"));
    expect(a.heard.events).to.deep.equal([]);
    await a.heard.until("dialer refused");
    expect(a.heard.events).to.deep.equal(["dialer refused"]);
  });

  it("calls nothing back after close, not even for a dial under way", async () => {
    const a = await start(at("127.0.61.1"));
    const b = await start(at("127.0.61.2"));
    const stream = a.transport.dial(b.transport.local, a.heard.handler("dialer"));
    stream.close();
    stream.close();
    stream.write(bytes("late"));
    const other = a.transport.dial(b.transport.local, a.heard.handler("other"));
    other.write(bytes("x"));
    await b.heard.until("acceptor data x 1");
    expect(a.heard.events.filter((event) => event.startsWith("dialer"))).to.deep.equal([]);
  });

  it("tells the acceptor that the dialer has gone", async () => {
    const a = await start(at("127.0.61.1"));
    const b = await start(at("127.0.61.2"));
    a.transport.dial(b.transport.local, a.heard.handler("dialer")).write(bytes("x"));
    await b.heard.until("acceptor data x 1");
    await a.transport.close();
    await b.heard.until("acceptor closed");
    open.splice(0, 1);
  });

  it("delivers all of a long answer before the end", async () => {
    const a = await start(at("127.0.61.1"));
    const b = await start(at("127.0.61.2"));
    b.heard.reply = "y".repeat(8_000_000);
    a.transport.dial(b.transport.local, a.heard.handler("dialer")).write(bytes("x"));
    await a.heard.until("dialer closed");
    const received = a.heard.events.map((event) => Number(/data y+ (\d+)/.exec(event)?.[1] ?? 0));
    expect(received.reduce((sum, count) => sum + count, 0)).to.equal(8_000_000);
  });

  it("delivers all of it to a peer that takes longer than a second to read", async () => {
    const b = await start(at("127.0.61.2"));
    b.heard.reply = "y".repeat(8_000_000);
    const slow = connect({ host: "127.0.61.2", port: b.transport.local.port });
    slow.write("x");
    await b.heard.until("acceptor data x 1");
    await sleep(1_500);
    let received = 0;
    for await (const chunk of slow) received += (chunk as Uint8Array).length;
    expect(received).to.equal(8_000_000);
  });

  for (const { name, to, size } of [
    { name: "to port 0", to: at("127.0.61.2", 0), size: 1 },
    { name: "to another family", to: at("2001:db8::1", 7946), size: 1 },
    { name: "longer than UDP carries", to: at("127.0.61.2", 7946), size: 70_000 },
  ]) {
    it(`reports a datagram ${name} as failed, and never throws`, async () => {
      const { transport, heard } = await start(at("127.0.61.1"));
      transport.sendDatagram(to, new Uint8Array(size));
      expect(heard.events).to.deep.equal([]);
      await heard.until(`failed ${to.ip}:${to.port}`);
    });
  }

  it("refuses an address that is not the host's", async () => {
    const error: unknown = await openGossipTransport(at("192.0.2.1", 0)).catch((reason: unknown) => reason);
    expect(error).to.deep.include({ code: "ERR_BIND_ADDRESS", message: "192.0.2.1 is no address of this host" });
  });

  it("refuses a port that is taken, by either protocol", async () => {
    const { transport } = await start(at("127.0.61.1"));
    const error: unknown = await openGossipTransport(transport.local).catch((reason: unknown) => reason);
    expect(error).to.have.property("code", "ERR_LISTEN");
  });
});
