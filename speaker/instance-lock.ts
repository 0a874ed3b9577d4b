/** One speaker of a name per host. */
import { takeInstanceLock } from "../src/sys/instance-lock.ts";

/** Resolves to a function that gives the name back. Throws ERR_ALREADY_RUNNING with a sentence when somebody holds it. */
export function takeSpeakerLock(nodeName: string): Promise<() => void> {
  return takeInstanceLock({
    name: `arpeggio-speaker/${nodeName}`,
    title: `the lock of node name ${nodeName}`,
    takenSentence: `another speaker named ${nodeName} is already running on this host; stop it, or give this one another --node-name`,
  });
}
