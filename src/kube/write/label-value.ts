/** Names as label values. Pure. */
import { hash } from "node:crypto";

/** Of a label value (Kubernetes' syntax of labels); a node's name may have 253 characters. */
const MAX_LENGTH = 63;
const DIGITS = 10;

/** A name of up to 63 characters is its own value, as MetalLB has it, which writes no longer ones at all. */
export function labelValue(name: string): string {
  if (name.length <= MAX_LENGTH) return name;
  return `${name.slice(0, MAX_LENGTH - 1 - DIGITS)}-${hash("sha256", name, "hex").slice(0, DIGITS)}`;
}
