import { expect } from "chai";
import {
  ANSWER_AFTER_GOODBYE_MS,
  type Departure,
  departureDeadlineMs,
  HANDOVER_LIMIT_MS,
  isOver,
  maySayGoodbye,
  startDeparture,
} from "../../speaker/departure.ts";

const said = (departure: Departure): Departure => ({ ...departure, isSayingGoodbye: true, hasSaidGoodbye: true });

describe("departure under arpeggio-1", () => {
  const departure = startDeparture("arpeggio-1", 1_000);
  it("says goodbye when everything was handed over, at the latest after 12 s", () => {
    expect(maySayGoodbye(departure, true, 1_500)).to.equal(false);
    expect(maySayGoodbye(departure, false, 1_500)).to.equal(true);
    expect(maySayGoodbye(departure, true, 1_000 + HANDOVER_LIMIT_MS)).to.equal(true);
    expect(departureDeadlineMs(departure)).to.equal(13_000);
  });
  it("says it once, and is over when it was said", () => {
    expect(maySayGoodbye({ ...departure, isSayingGoodbye: true }, false, 1_500)).to.equal(false);
    expect(isOver(departure, false, 1_500)).to.equal(false);
    expect(isOver(said(departure), false, 1_500)).to.equal(true);
  });
});

describe("departure under metallb-1", () => {
  const departure = startDeparture("metallb-1", 1_000);
  it("says goodbye first, because others take over only then", () => {
    expect(maySayGoodbye(departure, true, 1_000)).to.equal(true);
  });
  it("answers until the others were heard, at most 2 s", () => {
    expect(isOver(said(departure), true, 2_999)).to.equal(false);
    expect(isOver(said(departure), false, 1_100)).to.equal(true);
    expect(isOver(said(departure), true, 1_000 + ANSWER_AFTER_GOODBYE_MS)).to.equal(true);
  });
});
