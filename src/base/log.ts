/** Structured logs: one JSON object a line, constant messages, fields carry the rest (STYLE §2). */

export const LOG_LEVELS = ["all", "debug", "info", "warn", "error", "none"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogSeverity = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Where log lines go. The core returns values; only shells log. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const THRESHOLD: Readonly<Record<LogLevel, number>> = { all: 0, debug: 0, info: 1, warn: 2, error: 3, none: 4 };

/** Writes lines like `{"ts":"2026-01-01T00:00:00.000Z","level":"info","msg":"leader changed",…}` through `write`. */
export function createLog(level: LogLevel, write: (line: string) => void, wallMs: () => number): Log {
  const at =
    (severity: LogSeverity) =>
    (message: string, fields: LogFields = {}): void => {
      if (THRESHOLD[severity] < THRESHOLD[level]) return;
      const ts = new Date(wallMs()).toISOString();
      write(`${JSON.stringify({ ts, level: severity, msg: message, ...fields })}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
