import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { watchKeyFiles } from "../../speaker/key-files.ts";

const LIMIT_MS = 8_000;

describe("watchKeyFiles", () => {
  let folder = "";
  let told: string[] = [];
  let warned: string[] = [];
  let watched: { close(): void } | undefined;
  let wake: (() => void) | undefined;

  const warn = (message: string) => {
    warned.push(message);
    wake?.();
  };
  const log = { debug: warn, info: warn, warn, error: warn };

  async function start(): Promise<void> {
    watched = await watchKeyFiles(join(folder, "secretkey"), log, ({ current, previous }) => {
      // MetalLB's filling follows the text of the file.
      told.push(
        [current, ...(previous === undefined ? [] : [previous])]
          .map((key) => Buffer.from(key).toString("latin1", 0, 3))
          .join(" "),
      );
      wake?.();
    });
  }

  async function until(condition: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => reject(new Error(`told ${told.join(", ")}; warned ${warned.join(", ")}`)), LIMIT_MS);
    wake = () => {
      if (condition()) resolve(undefined);
    };
    wake();
    await promise.finally(() => clearTimeout(timer));
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "key-files-"));
    told = [];
    warned = [];
    wake = undefined;
  });

  afterEach(() => {
    watched?.close();
    rmSync(folder, { recursive: true });
  });

  it("tells the key at once, then each change, with the previous one where there is one", async () => {
    writeFileSync(join(folder, "secretkey"), "old");
    await start();
    writeFileSync(join(folder, "secretkey"), "new");
    writeFileSync(join(folder, "secretkey.previous"), "old");
    await until(() => told.length > 1);
    expect(told).to.deep.equal(["old", "new old"]);
  });

  it("keeps the last key when the file is gone or empty, and says so", async () => {
    writeFileSync(join(folder, "secretkey"), "old");
    await start();
    rmSync(join(folder, "secretkey"));
    await until(() => warned.length > 0);
    writeFileSync(join(folder, "secretkey"), "");
    await until(() => warned.length > 1);
    writeFileSync(join(folder, "secretkey"), "new");
    await until(() => told.length > 1);
    expect(told).to.deep.equal(["old", "new"]);
    expect(warned).to.deep.equal(Array(2).fill("the gossip key is gone; the last one stands"));
  });
});
