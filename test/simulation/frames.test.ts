import { expect } from "chai";
import { golden, ip, mac } from "../packet/golden.ts";
import { answerFrame, isUnsolicited, readFrame, requestFrame } from "./frames.ts";

const ASKER = { mac: mac("02:00:00:00:00:01"), ip: ip("192.0.2.1") };
const OWNER = { mac: mac("02:00:00:00:00:02"), ip: ip("192.0.2.2") };

describe("simulation: frames", () => {
  it("reads what the kernel, arping and ndisc6 sent", () => {
    for (const [name, form, isUnasked] of [
      ["arping-request", "arp-request", false],
      ["kernel-reply", "arp-reply", false],
      ["arping-gratuitous-request", "arp-request", true],
      ["arping-gratuitous-reply", "arp-reply", true],
      ["ndisc6-solicitation", "solicitation", false],
      ["kernel-solicited-advertisement", "advertisement", false],
      ["kernel-unsolicited-advertisement", "advertisement", true],
    ] as const) {
      const frame = readFrame(golden(name)) ?? expect.fail(name);
      expect([frame.form, isUnsolicited(frame)], name).to.deep.equal([form, isUnasked]);
    }
  });

  it("answers like the kernel, padding apart", () => {
    const kernel = golden("kernel-reply");
    expect(answerFrame(OWNER, ASKER).subarray(0, kernel.length)).to.deep.equal(kernel);
  });

  it("solicits like ndisc6", () => {
    const asked = readFrame(golden("ndisc6-solicitation")) ?? expect.fail("unread");
    const made = requestFrame({ mac: asked.source, ip: asked.senderIp }, asked.targetIp);
    expect(readFrame(made)).to.deep.equal(asked);
  });

  it("refuses a solicitation with another hop limit or a broken checksum", () => {
    const hops = golden("ndisc6-solicitation").slice();
    hops[21] = 64;
    expect(readFrame(hops)).to.equal(undefined);
    const broken = golden("ndisc6-solicitation").slice();
    broken[57] = (broken[57] ?? 0) ^ 1;
    expect(readFrame(broken)).to.equal(undefined);
  });
});
