import { expect } from "chai";
import {
  ANSWER_AFTER_GOODBYE_MS,
  beginGoodbye,
  type Departure,
  departureDeadlineMs,
  HANDOVER_LIMIT_MS,
  isGone,
  isOver,
  startDeparture,
} from "../../speaker/departure.ts";

const departure = startDeparture(1_000);
const said = (begun: Departure): Departure => ({ ...begun, hasSaidGoodbye: true });

describe("departure under arpeggio-1", () => {
  it("says goodbye when everything was handed over, at the latest after 12 s", () => {
    expect(beginGoodbye(departure, "arpeggio-1", true, 1_500).goodbyeMs).to.equal(undefined);
    expect(beginGoodbye(departure, "arpeggio-1", false, 1_500).goodbyeMs).to.equal(1_500);
    expect(beginGoodbye(departure, "arpeggio-1", true, 1_000 + HANDOVER_LIMIT_MS).goodbyeMs).to.equal(13_000);
    expect(departureDeadlineMs(departure)).to.equal(13_000);
  });

  it("says it once, stays a candidate, and is over when it was said", () => {
    const begun = beginGoodbye(departure, "arpeggio-1", false, 1_500);
    expect(beginGoodbye(begun, "arpeggio-1", false, 1_600)).to.equal(begun);
    expect(isGone(begun)).to.equal(false);
    expect(departureDeadlineMs(begun)).to.equal(undefined);
    expect(isOver(begun, false, 1_500)).to.equal(false);
    expect(isOver(said(begun), false, 1_500)).to.equal(true);
  });
});

describe("departure under metallb-1", () => {
  it("says goodbye first, because others take over only then, whenever the rule came into force", () => {
    const begun = beginGoodbye(departure, "metallb-1", true, 5_000);
    expect(begun.goodbyeMs).to.equal(5_000);
    expect(isGone(begun)).to.equal(true);
  });

  it("answers until the others were heard, at most 2 s from the goodbye", () => {
    const begun = beginGoodbye(departure, "metallb-1", true, 5_000);
    expect(departureDeadlineMs(begun)).to.equal(7_000);
    expect(isOver(said(begun), true, 6_999)).to.equal(false);
    expect(isOver(said(begun), false, 5_100)).to.equal(true);
    expect(isOver(said(begun), true, 5_000 + ANSWER_AFTER_GOODBYE_MS)).to.equal(true);
  });
});
