import { expect } from "chai";
import { takeInstanceLock } from "../../speaker/instance-lock.ts";

describe("takeInstanceLock", () => {
  it("refuses a second speaker of the same name with a sentence, until the first is gone", async () => {
    const name = `test-${process.pid}`;
    const release = await takeInstanceLock(name);
    const refusal = await takeInstanceLock(name).catch((error: unknown) => error);
    expect(refusal).to.include({ code: "ERR_ALREADY_RUNNING" });
    expect(String(refusal)).to.contain(`another speaker named ${name} is already running on this host`);
    const releaseOther = await takeInstanceLock(`${name}-other`);
    releaseOther();
    release();
    const releaseAgain = await takeInstanceLock(name);
    releaseAgain();
  });
});
