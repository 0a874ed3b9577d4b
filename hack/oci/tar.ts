/** A tar archive that depends on contents alone (POSIX.1-1988 ustar): sorted, owned by root, of one time. Pure. */

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;

export type TarEntry = { readonly name: string; readonly mode: number } & (
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string }
);

const TYPE_FLAGS = { file: "0", link: "2", folder: "5" } as const;

/** Names without a leading slash; a folder's without one at its end. @throws for a name of more than 100 bytes */
export function writeTar(entries: readonly TarEntry[]): Uint8Array {
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const parts = sorted.flatMap((entry) => {
    const bytes = entry.kind === "file" ? entry.bytes : new Uint8Array(0);
    const padding = new Uint8Array((BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES);
    return [headerOf(entry, bytes.length), bytes, padding];
  });
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK_BYTES)]);
}

function headerOf(entry: TarEntry, size: number): Uint8Array {
  const name = entry.kind === "folder" ? `${entry.name}/` : entry.name;
  const target = entry.kind === "link" ? entry.target : "";
  if (Buffer.byteLength(name) > MAX_NAME_BYTES || Buffer.byteLength(target) > MAX_NAME_BYTES) {
    throw new Error(`${name} is too long for a tar archive`);
  }
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  header.write(octal(entry.mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  // The checksum counts its own field as spaces.
  header.write("        ", 148);
  header.write(TYPE_FLAGS[entry.kind], 156);
  header.write(target, 157);
  header.write("ustar\u000000", 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 6)}\0 `, 148);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
