/** The index of a link in a namespace, as `ip` tells it. */
import type { Netns } from "../support/netns.ts";

export function linkIndex(lab: Netns, namespace: string, link: string): number {
  const [found] = JSON.parse(lab.ip(namespace, `-j link show dev ${link}`)) as { ifindex: number }[];
  if (found === undefined) throw new Error(`no link ${link}`);
  return found.ifindex;
}
