import { expect } from "chai";
import { Settling } from "../../speaker/settling.ts";

/** Whatever it is given it decides, until all of the work is done. */
function rig(work: number, turnBudget?: number) {
  const budgets: number[] = [];
  const waiting: (() => void)[] = [];
  let left = work;
  const settling = new Settling(
    {
      settleOnce: (_nowMs, budget) => {
        budgets.push(budget);
        const done = Math.min(budget, left);
        left -= done;
        return budget - done;
      },
      isDeciding: () => left > 0,
      enter: () => 0,
      afterReads: (callback) => void waiting.push(callback),
      settled: () => {},
    },
    turnBudget,
  );
  return {
    settling,
    budgets,
    addWork: (more: number) => void (left += more),
    turn: () => waiting.splice(0).forEach((callback) => callback()),
    isWaiting: () => waiting.length > 0,
  };
}

describe("Settling", () => {
  it("decides little in the first turns, in which code is slow, and then more and more up to the whole budget", () => {
    const { settling, budgets, turn, isWaiting } = rig(100_000);
    settling.settle(0);
    while (isWaiting()) turn();
    expect(budgets[0]).to.equal(200);
    expect(budgets.slice(1).every((budget, index) => budget >= (budgets[index] ?? 0))).to.equal(true);
    expect(budgets.findIndex((budget) => budget === 300)).to.be.within(40, 50);
    expect(Math.max(...budgets)).to.equal(300);
  });

  it("never decides more in a turn than it was told", () => {
    const { settling, budgets, turn, isWaiting } = rig(10_000, 60);
    settling.settle(0);
    while (isWaiting()) turn();
    expect(new Set(budgets)).to.deep.equal(new Set([60]));
  });

  it("decides upon news at once", () => {
    const { settling, budgets, addWork } = rig(0);
    settling.newsCame();
    addWork(30);
    settling.settleNews(0, false);
    expect(budgets).to.deep.equal([200]);
  });

  it("takes notice of news that filled their turn, and decides upon them in the next", () => {
    const { settling, budgets, addWork, turn, isWaiting } = rig(0);
    settling.newsCame();
    addWork(30);
    settling.settleNews(0, true);
    expect(budgets).to.deep.equal([0]);
    turn();
    expect(budgets).to.deep.equal([0, 200]);
    expect(isWaiting()).to.equal(false);
  });

  it("settles nothing without news", () => {
    const { settling, budgets } = rig(0);
    settling.settleNews(0, true);
    settling.settleNews(0, false);
    expect(budgets).to.deep.equal([]);
  });
});
