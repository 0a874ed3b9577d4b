import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { type TarEntry, writeTar } from "../../hack/oci/tar.ts";

const ENTRIES: readonly TarEntry[] = [
  { kind: "file", name: "etc/passwd", mode: 0o644, bytes: Buffer.from("root:x:0:0:root:/:/sbin/nologin\n") },
  { kind: "folder", name: "etc", mode: 0o755 },
  { kind: "link", name: "lib64/ld.so", mode: 0o777, target: "/lib/ld.so" },
  { kind: "folder", name: "tmp", mode: 0o1777 },
  { kind: "file", name: "usr/bin/node", mode: 0o755, bytes: new Uint8Array(512) },
  { kind: "file", name: "empty", mode: 0o644, bytes: new Uint8Array(0) },
];

describe("writeTar", () => {
  it("is read by tar, with modes, owner, time and targets", () => {
    const words = ["--list", "--verbose", "--numeric-owner", "--utc", "--file=-"];
    const lines = execFileSync("tar", words, { input: writeTar(ENTRIES), encoding: "utf8" })
      .trim()
      .split("\n");
    expect(lines.map((line) => line.replace(/ +/g, " "))).to.deep.equal([
      "-rw-r--r-- 0/0 0 1970-01-01 00:00 empty",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 etc/",
      "-rw-r--r-- 0/0 32 1970-01-01 00:00 etc/passwd",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00 lib64/ld.so -> /lib/ld.so",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/",
      "-rwxr-xr-x 0/0 512 1970-01-01 00:00 usr/bin/node",
    ]);
  });

  it("keeps contents", () => {
    const words = ["--extract", "--to-stdout", "--file=-", "etc/passwd"];
    expect(execFileSync("tar", words, { input: writeTar(ENTRIES), encoding: "utf8" })).to.equal(
      "root:x:0:0:root:/:/sbin/nologin\n",
    );
  });

  it("does not depend on the order of its entries", () => {
    expect(writeTar(ENTRIES.toReversed())).to.deep.equal(writeTar(ENTRIES));
  });

  it("refuses a name that does not fit", () => {
    const entry: TarEntry = { kind: "folder", name: "n".repeat(100), mode: 0o755 };
    expect(() => writeTar([entry])).to.throw("is too long for a tar archive");
  });
});
