/** The image's first layer: Node without its symbols, the libraries that it needs, and what a C library reads. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Architecture } from "./architecture.ts";
import type { DebianPackage } from "./debian-packages.ts";
import { emptyFolder, run } from "./run.ts";
import { interpreterOf, librariesOf, libraryFile } from "./shared-libraries.ts";

/** Loaded by name while running: glibc's resolver of host names. */
const LOADED_LATER = ["libresolv.so.2", "libnss_dns.so.2", "libnss_files.so.2"];

const FILES: Readonly<Record<string, string>> = {
  "etc/passwd": "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
  "etc/group": "root:x:0:\nnobody:x:65534:\n",
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** @param packages unpacked in `unpacked` @param nodeRoot npm's package of Node for the architecture */
export function makeRuntimeFolder(
  folder: string,
  architecture: Architecture,
  nodeRoot: string,
  unpacked: string,
  packages: readonly DebianPackage[],
): void {
  emptyFolder(folder);
  const put = (path: string, make: (file: string) => void) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    make(join(folder, path));
  };
  for (const [path, text] of Object.entries(FILES)) put(path, (file) => writeFileSync(file, text));
  mkdirSync(join(folder, "tmp"));
  chmodSync(join(folder, "tmp"), 0o1777);

  // Symbols that are linked to while running stay, or the addon would not load.
  const strip = `${architecture.toolPrefix}strip`;
  const node = join(nodeRoot, "bin/node");
  put("usr/bin/node", (file) => run(strip, ["--strip-unneeded", "-o", file, node]));
  put("usr/share/doc/node/LICENSE", (file) => copyFileSync(join(nodeRoot, "LICENSE"), file));

  const { triplet } = architecture;
  const places = [`lib/${triplet}`, `usr/lib/${triplet}`].map((path) => join(unpacked, path));
  const later = LOADED_LATER.map((name): readonly [string, string] => [name, libraryFile(name, places)]);
  const needed = librariesOf([node, ...later.map(([, file]) => file)], places);
  for (const [name, from] of new Map([...needed, ...later])) {
    put(`lib/${triplet}/${name}`, (file) => copyExecutable(from, file));
  }
  const interpreter = interpreterOf(node);
  const loader = `/lib/${triplet}/${interpreter.slice(interpreter.lastIndexOf("/") + 1)}`;
  if (!existsSync(join(folder, loader))) throw new Error(`${loader} is not among the libraries`);
  put(interpreter, (file) => symlinkSync(loader, file));

  for (const { name, control } of packages) {
    // Where scanners of images without a package manager look for what is in them.
    put(`var/lib/dpkg/status.d/${name}`, (file) => writeFileSync(file, control));
    const copyright = join(unpacked, "usr/share/doc", name, "copyright");
    put(`usr/share/doc/${name}/copyright`, (file) => copyFileSync(copyright, file));
  }
}

function copyExecutable(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}
