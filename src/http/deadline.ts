/** A limit to waiting: a thread that hangs must not hang the one who asks why. */
import { ArpeggioError } from "../base/errors.ts";

/** What `value` resolves to; throws ERR_HTTP_TIMEOUT when that takes longer than `deadlineMs`. */
export async function within<Value>(deadlineMs: number, value: Value | Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_resolve, reject) => {
    const sentence = `the wire thread did not answer within ${deadlineMs / 1_000} s; see /healthz`;
    timer = setTimeout(() => reject(new ArpeggioError("ERR_HTTP_TIMEOUT", sentence)), deadlineMs);
  });
  try {
    return await Promise.race([value, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
