import { expect } from "chai";
import { takeSpeakerLock } from "../../speaker/instance-lock.ts";

describe("takeSpeakerLock", () => {
  it("refuses a second speaker of the same name with a sentence, until the first is gone", async () => {
    const name = `test-${process.pid}`;
    const release = await takeSpeakerLock(name);
    const refusal = await takeSpeakerLock(name).catch((error: unknown) => error);
    expect(refusal).to.include({ code: "ERR_ALREADY_RUNNING" });
    expect(String(refusal)).to.contain(`another speaker named ${name} is already running on this host`);
    const releaseOther = await takeSpeakerLock(`${name}-other`);
    releaseOther();
    release();
    const releaseAgain = await takeSpeakerLock(name);
    releaseAgain();
  });
});
