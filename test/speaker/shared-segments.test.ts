import { expect } from "chai";
import { segmentProblems } from "../../speaker/shared-segments.ts";

describe("segmentProblems", () => {
  it("are said of the silent link, and name the one that answers", () => {
    const shared = [
      { linkIndex: 2, silentLinkIndex: 3 },
      { linkIndex: 2, silentLinkIndex: 5 },
    ];
    const problems = segmentProblems(shared, (index) => `eth${index}`);
    expect([...problems.keys()]).to.deep.equal([3, 5]);
    expect(problems.get(5)).to.deep.equal(["is on one segment with eth2, which answers in its place where both may"]);
  });
});
