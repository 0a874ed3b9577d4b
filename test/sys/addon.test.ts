import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { bytesOfHex } from "../../src/base/bytes.ts";
import { errnoOf } from "../../src/base/errors.ts";
import { addon } from "../../src/sys/addon.ts";
import { openPacketSocket } from "../../src/sys/packet-socket.ts";

/** `ret #0` */
const DROP_ALL = bytesOfHex("0600000000000000") ?? new Uint8Array();
const NO_LINK = 0x7ffffffe;
const nothing = (): void => {};

/** RTM_GETLINK for link 1, the loopback: the kernel answers at once with one message. */
const ASK_FOR_LOOPBACK =
  bytesOfHex(`20000000 1200 0100 01000000 00000000 00000000 01000000 ${"00".repeat(8)}`) ?? new Uint8Array();

function codeOf(action: () => unknown): string {
  try {
    action();
    return "no error";
  } catch (error) {
    return errnoOf(error);
  }
}

function openNetlink(): InstanceType<typeof addon.NetlinkSocket> {
  return new addon.NetlinkSocket(0, 65_536, nothing, nothing);
}

describe("the addon", () => {
  it("tells the time since the machine was started, without steps back", () => {
    const times = Array.from({ length: 100 }, () => addon.boottimeMs());
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    // CLOCK_MONOTONIC does not count suspended time, so it is never ahead.
    expect(times[0]).to.be.at.least(Number(process.hrtime.bigint()) / 1e6 - 1_000);
  });

  it("refuses arguments of the wrong kind before any system call", () => {
    const wrong: readonly (() => unknown)[] = [
      () => new addon.NetlinkSocket(-1, 0, nothing, nothing),
      () => new addon.NetlinkSocket(Number.NaN, 0, nothing, nothing),
      (): unknown => Reflect.construct(addon.NetlinkSocket, [0, 0]),
      (): unknown => Reflect.construct(addon.NetlinkSocket, [0, 0, nothing, "text"]),
      (): unknown => Reflect.construct(addon.NetlinkSocket, [0, 0, undefined, nothing]),
      (): unknown => Reflect.apply(addon.NetlinkSocket, undefined, [0, 0, nothing, nothing]),
      () => new addon.PacketSocket(1, 0x10000, 256, 0, DROP_ALL, nothing, nothing),
      () => new addon.PacketSocket(1, 0x0806, 70_000, 0, DROP_ALL, nothing, nothing),
      () => new addon.PacketSocket(1, 0x0806, 256, 0, new Uint8Array(), nothing, nothing),
      () => new addon.PacketSocket(1, 0x0806, 256, 0, new Uint8Array(7), nothing, nothing),
      () => new addon.PacketSocket(1, 0x0806, 256, 0, new Uint8Array(8 * 4_097), nothing, nothing),
      () => new addon.PacketSocket(1, 0x0806, 256, 0, new Uint8Array(9).subarray(1), nothing, nothing),
      () => new addon.GroupSocket().join(1, new Uint8Array(4)),
    ];
    for (const action of wrong) expect(codeOf(action), action.toString()).to.equal("ERR_INVALID_ARG_TYPE");
  });

  it("refuses a method that is called on another object", () => {
    const socket = openNetlink();
    const group = new addon.GroupSocket();
    for (const receiver of [{}, group, undefined, 1]) {
      // oxlint-disable-next-line typescript/unbound-method -- the wrong receiver is the point
      expect((): unknown => Reflect.apply(socket.drain, receiver, [])).to.throw(TypeError);
    }
    socket.close();
    group.close();
  });

  it("closes any number of times, and a closed socket says EBADF", () => {
    const socket = openNetlink();
    socket.close();
    socket.close();
    expect(codeOf(() => socket.drain())).to.equal("EBADF");
    expect(codeOf(() => socket.send(new Uint8Array(16)))).to.equal("EBADF");
    const group = new addon.GroupSocket();
    group.close();
    group.close();
    expect(codeOf(() => group.join(1, new Uint8Array(16)))).to.equal("EBADF");
  });

  it("names the errno of a refused system call", () => {
    const group = new addon.GroupSocket();
    expect(codeOf(() => group.join(NO_LINK, bytesOfHex(`ff02${"00".repeat(13)}01`) ?? new Uint8Array()))).to.equal(
      "ENODEV",
    );
    group.close();
    const isRoot = process.getuid?.() === 0;
    const options = { linkIndex: NO_LINK, linkName: "none", family: 4, filter: DROP_ALL } as const;
    expect(codeOf(() => openPacketSocket({ ...options, onBatch: nothing, onError: nothing }))).to.equal(
      isRoot ? "ENODEV" : "EPERM",
    );
  });

  it("gives an exception of a callback to the caller of drain()", () => {
    const socket = new addon.NetlinkSocket(
      0,
      65_536,
      () => {
        throw new RangeError("from the callback");
      },
      nothing,
    );
    // RTM_GETLINK for link 1
    socket.send(ASK_FOR_LOOPBACK);
    expect(() => socket.drain()).to.throw(RangeError, "from the callback");
    expect(socket.drain()).to.equal(0);
    socket.close();
  });

  it("may be closed from inside its own callback", () => {
    let calls = 0;
    const socket = new addon.NetlinkSocket(
      0,
      65_536,
      () => {
        calls++;
        socket.close();
      },
      nothing,
    );
    socket.send(ASK_FOR_LOOPBACK);
    socket.drain();
    expect(calls).to.equal(1);
    expect(codeOf(() => socket.drain())).to.equal("EBADF");
  });

  it("works in the main thread and in workers together, and ends with a worker that leaves its sockets open", async () => {
    const script = `
      const { createRequire } = require("node:module");
      const addon = createRequire(${JSON.stringify(import.meta.url)})("../../src/sys/addon.node");
      const { parentPort } = require("node:worker_threads");
      const socket = new addon.NetlinkSocket(0, 65536, (bytes) => parentPort.postMessage(bytes), () => {});
      new addon.GroupSocket();
      parentPort.once("message", (message) => socket.send(message));
    `;
    const socket = openNetlink();
    for (let round = 0; round < 3; round++) {
      const workers = [new Worker(script, { eval: true }), new Worker(script, { eval: true })];
      for (const worker of workers) worker.postMessage(ASK_FOR_LOOPBACK);
      const sizes = await Promise.all(workers.map((worker) => once(worker, "message")));
      expect(sizes.flat().every((size) => typeof size === "number" && size > 100)).to.equal(true);
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
    expect(socket.drain()).to.equal(0);
    socket.close();
  });
});
