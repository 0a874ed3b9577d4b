/** Why a strict address is answered, or is not, in a sentence. Pure. */
import type { AddressDocument } from "../../api/address.ts";

type Strict = NonNullable<AddressDocument["strict"]>;

/** `at`: of the document. */
export function strictSentence({ isInForce, expected, needed, lease }: Strict, at: string): string {
  if (!isInForce)
    return "not in force: under MetalLB's rule, and without gossip, it is answered like any other address";
  if (expected === undefined || needed === undefined) return "it is not known yet which speakers are expected";
  const most = `${needed} of ${expected} expected speakers`;
  if (lease === undefined) return `answered only while ${most} grant it`;
  const { isHeld, grantedBy, heard, holder, until } = lease;
  const granted = `${grantedBy.length} of ${expected} expected speakers grant it`;
  if (isHeld) {
    const lasts = until === undefined ? "" : `, for ${Math.max(0, Date.parse(until) - Date.parse(at))} ms more`;
    return `${granted} (${grantedBy.join(", ")})${lasts}`;
  }
  const whose = holder === undefined ? "" : `; ${holder} has it`;
  return `silent: ${granted}, ${needed} are needed; heard: ${heard.join(", ") || "nobody"}${whose}`;
}
