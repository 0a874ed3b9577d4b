/** Every drill of `hack/kube drill`. */
import { CHANGE_DRILLS } from "./changes.ts";
import type { KubeDrill } from "./drill.ts";
import { FAULT_DRILLS } from "./faults.ts";
import { PLANNED_DRILLS } from "./planned.ts";

export const KUBE_DRILLS: Readonly<Record<string, KubeDrill>> = {
  ...PLANNED_DRILLS,
  ...CHANGE_DRILLS,
  ...FAULT_DRILLS,
};
