/** Which of several members speaks of a thing that concerns all of them, so that one does and not all. Pure. */
import { hash } from "node:crypto";

/** The member with the lowest SHA-256 of `member#subject`; undefined without members. Whoever knows the same members finds the same one. */
export function firstByHash(members: Iterable<string>, subject: string): string | undefined {
  let first: { readonly member: string; readonly rank: string } | undefined;
  for (const member of members) {
    const rank = hash("sha256", `${member}#${subject}`, "hex");
    if (first === undefined || rank < first.rank) first = { member, rank };
  }
  return first?.member;
}
