import { expect } from "chai";
import { Joining } from "../../speaker/joining.ts";

describe("Joining", () => {
  it("says once that it has just begun to talk to peers", () => {
    const joining = new Joining();
    expect(joining.takeOpening()).to.equal(false);
    joining.open();
    expect([joining.isOpen, joining.takeOpening(), joining.takeOpening()]).to.deep.equal([true, true, false]);
  });
});
