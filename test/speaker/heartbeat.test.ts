import { expect } from "chai";
import { beat, createHeartbeats, HeartbeatWatch } from "../../speaker/heartbeat.ts";

describe("HeartbeatWatch", () => {
  it("knows how long the other thread's counter has stood", () => {
    const beats = createHeartbeats();
    const watch = new HeartbeatWatch(beats, "wire", 0);
    beat(beats, "wire");
    expect(watch.ageMs(100)).to.equal(0);
    beat(beats, "main");
    expect(watch.ageMs(2_100)).to.equal(2_000);
    beat(beats, "wire");
    expect(watch.ageMs(2_200)).to.equal(0);
  });
});
