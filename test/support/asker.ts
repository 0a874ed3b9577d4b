/** A host of a test's network that asks who has an address, as any host does, and hears everybody who answers. */
import { join } from "node:path";
import { HelperProcess } from "../../hack/netlab/helper-process.ts";
import type { Host } from "../../hack/netlab/topology.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import type { Answer, Question } from "./asker-main.ts";

const PROGRAM = join(import.meta.dirname, "asker-main.js");
/** A program that starts on a busy machine. */
const START_LIMIT_MS = 20_000;

export class Asker {
  readonly #process: HelperProcess<Question, Answer>;
  #questions = 0;

  constructor(host: Host) {
    this.#process = new HelperProcess(host.namespace, PROGRAM);
  }

  /** MACs that answer for the address on the link; none if nobody does within the limit. */
  async ask(address: Ip, link: string, limitMs: number): Promise<readonly Mac[]> {
    const number = this.#questions++;
    this.#process.send({ number, link, address, limitMs });
    const answer = await this.#process.waitFor(
      (report): report is Answer => report.number === number,
      limitMs + START_LIMIT_MS,
    );
    if (answer === undefined) throw new Error("the host that asks does not run");
    return answer.macs;
  }

  close(): void {
    this.#process.close();
  }
}
