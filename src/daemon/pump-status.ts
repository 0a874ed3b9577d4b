/** What a pump of writes to the API server says of itself, as documents show it. Pure. */
import type { StatusDocument } from "../../api/status.ts";
import type { WritePumpStatus } from "../kube/write/write-pump.ts";

type PumpDocument = NonNullable<StatusDocument["writtenBack"]>["objects"];

export function describePump(status: WritePumpStatus): PumpDocument {
  const { pending, written, failed, isApiAway, lastError, lastErrorWallMs, missingRights } = status;
  return {
    pending,
    written,
    failed,
    isApiAway,
    missingRights: [...missingRights],
    ...(lastError === undefined ? {} : { lastError }),
    ...(lastErrorWallMs === undefined ? {} : { lastErrorAt: new Date(lastErrorWallMs).toISOString() }),
  };
}
