/** The files of the gossip key, watched while the speaker runs: a Secret that was changed comes as a swapped link. */
import { basename, dirname } from "node:path";
import type { Log } from "../src/base/log.ts";
import { WatchedFiles } from "../src/files/watched-files.ts";
import type { KeyFiles } from "../src/gossip/key-rotation.ts";
import { deriveKey } from "../src/gossip/keyring.ts";
import type { KeyNews } from "../src/gossip/rotating-keys.ts";

export const KEY_SENTENCES: Readonly<Record<KeyNews, string>> = {
  accepted: "another gossip key is accepted from now on",
  sending: "gossip is sent with another key from now on",
};

/** An empty `secretkey.previous` counts as none. @param secret not empty */
export function keysOf(secret: Uint8Array, previous: Uint8Array | undefined): KeyFiles {
  const current = deriveKey(secret);
  return previous === undefined || previous.length === 0 ? { current } : { current, previous: deriveKey(previous) };
}

/** Calls back with what the files say, at once and whenever that changes. A key that is gone or empty changes nothing. */
export async function watchKeyFiles(
  secretKeyFile: string,
  log: Log,
  onKeys: (keys: KeyFiles) => void,
): Promise<{ close(): void }> {
  const name = basename(secretKeyFile);
  const previousName = `${name}.previous`;
  const files = new WatchedFiles({
    folder: dirname(secretKeyFile),
    names: [name, previousName],
    onChange: (contents) => {
      const secret = contents.get(name);
      if (secret !== undefined && secret.length > 0) return onKeys(keysOf(secret, contents.get(previousName)));
      // Gossip must not fall silent, nor go on in the clear, because somebody removed a file.
      log.warn("the gossip key is gone; the last one stands", { file: secretKeyFile });
    },
    onProblem: (file, code) => log.warn("a file of the gossip key cannot be read", { file, code }),
  });
  await files.start();
  return files;
}
