/** Reads options one by one, and collects what is wrong with them. */
import type { CommandLine, GivenValue } from "./command-line.ts";
import type { ParsedValue } from "./option-values.ts";

/** Collects a problem for each value that does not parse, so that all are listed at once. */
export class OptionReader<Name extends string> {
  readonly problems: string[];
  readonly #given: ReadonlyMap<Name, GivenValue>;

  constructor(commandLine: CommandLine<Name>) {
    this.problems = [...commandLine.problems];
    this.#given = commandLine.given;
  }

  has(name: Name): boolean {
    return this.#given.has(name);
  }

  text(name: Name): string | undefined {
    return this.#given.get(name)?.text;
  }

  /** `fallback` when the option is not given, and when it is wrong, so that reading goes on. */
  read<Value>(name: Name, parse: (text: string) => ParsedValue<Value>, fallback: Value): Value {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const parsed = parse(text);
    if (parsed.ok) return parsed.value;
    this.refuse(name, parsed.problem);
    return fallback;
  }

  readRequired<Value>(name: Name, parse: (text: string) => ParsedValue<Value>, advice: string): Value | undefined {
    if (!this.has(name)) this.problems.push(`--${name} is missing: ${advice}`);
    return this.read<Value | undefined>(name, parse, undefined);
  }

  refuse(name: Name, problem: string): void {
    this.problems.push(`${this.#given.get(name)?.from ?? `--${name}`}: ${problem}`);
  }
}
