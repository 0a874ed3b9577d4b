/** The frames by which a watcher asks one member, and the answers that it believes. Built and read by the simulation's own codec. */
import { expect } from "chai";
import fc from "fast-check";
import { type NeighbourQuestion, NeighbourQuestions } from "../../src/announcer/neighbour-questions.ts";
import { answerFrame, readFrame, requestFrame } from "../simulation/frames.ts";
import { ip, mac } from "./rig.ts";

const OWN = { mac: mac("02:00:00:00:00:02"), ip: ip("192.0.2.12") };
const OWN6 = { mac: OWN.mac, ip: ip("2001:db8::12") };
const THEIRS = mac("02:00:00:00:00:01");
const OTHER = mac("02:00:00:00:00:07");
const VIP = ip("192.0.2.100");
const VIP6 = ip("2001:db8::100");
const NODE_IP = ip("192.0.2.11");

const QUESTIONS: readonly NeighbourQuestion[] = [
  { node: "n1", of: "led-address", ip: VIP, linkIndex: 2, mac: THEIRS, own: OWN },
  { node: "n1", of: "node-address", ip: NODE_IP, linkIndex: 2, mac: THEIRS, own: OWN },
  { node: "n3", of: "led-address", ip: VIP6, linkIndex: 3, mac: OTHER, own: OWN6 },
];

function asking(): NeighbourQuestions {
  const questions = new NeighbourQuestions();
  questions.set(QUESTIONS);
  return questions;
}

describe("neighbour questions", () => {
  it("go to the MAC of the one that is asked, as a client's would", () => {
    expect(asking().framesFor("n1")).to.deep.equal([
      { linkIndex: 2, family: 4, bytes: requestFrame(OWN, VIP, THEIRS) },
      { linkIndex: 2, family: 4, bytes: requestFrame(OWN, NODE_IP, THEIRS) },
    ]);
    const [solicitation] = asking().framesFor("n3");
    expect(solicitation?.linkIndex).to.equal(3);
    expect(readFrame(solicitation?.bytes ?? new Uint8Array())).to.deep.equal(
      readFrame(requestFrame(OWN6, VIP6, OTHER)),
    );
    expect(asking().framesFor("n9")).to.deep.equal([]);
  });

  it("want their addresses heard, each once and on its link", () => {
    expect([2, 3, 4].map((link) => asking().addressesOn(link))).to.deep.equal([[VIP, NODE_IP], [VIP6], []]);
  });

  const reply = answerFrame({ mac: THEIRS, ip: VIP }, OWN);
  const advertisement = answerFrame({ mac: OTHER, ip: VIP6 }, OWN6);
  for (const { name, frame, link, vlan, answered } of [
    { name: "the answer for a led address", frame: reply, link: 2, answered: "led-address" },
    {
      name: "the kernel's answer",
      frame: answerFrame({ mac: THEIRS, ip: NODE_IP }, OWN),
      link: 2,
      answered: "node-address",
    },
    { name: "an advertisement", frame: advertisement, link: 3, answered: "led-address" },
    { name: "a priority tag", frame: reply, link: 2, vlan: 0xe000, answered: "led-address" },
    {
      name: "an answer of another node",
      frame: answerFrame({ mac: OTHER, ip: VIP }, OWN),
      link: 2,
      answered: undefined,
    },
    {
      name: "an answer to another asker",
      frame: answerFrame({ mac: THEIRS, ip: VIP }, { mac: OTHER, ip: OWN.ip }),
      link: 2,
      answered: undefined,
    },
    {
      name: "an answer for another address",
      frame: answerFrame({ mac: THEIRS, ip: ip("192.0.2.101") }, OWN),
      link: 2,
      answered: undefined,
    },
    { name: "an answer on another link", frame: reply, link: 3, answered: undefined },
    { name: "an answer of another VLAN", frame: reply, link: 2, vlan: 7, answered: undefined },
    { name: "a request", frame: requestFrame({ mac: THEIRS, ip: VIP }, OWN.ip, OWN.mac), link: 2, answered: undefined },
  ]) {
    it(`${answered === undefined ? "do not believe" : "believe"} ${name}`, () => {
      const family = frame[12] === 0x08 ? 4 : 6;
      expect(asking().answeredBy(link, family, frame, vlan)?.of).to.equal(answered);
    });
  }

  it("take whatever strangers send", () => {
    const questions = asking();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.constantFrom(4 as const, 6 as const), (bytes, family) => {
        expect(questions.answeredBy(2, family, bytes, undefined)).to.equal(undefined);
        const cut = (family === 4 ? reply : advertisement).slice(0, bytes.length % 60);
        expect(questions.answeredBy(2, family, cut, undefined)).to.equal(undefined);
      }),
    );
  });
});
