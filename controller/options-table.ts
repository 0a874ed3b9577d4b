/** Every option of the controller, once: `--help`, the README's table and the reader of the command line come from here. */
import { COMMON_ROWS } from "../src/options/common-rows.ts";
import type { OptionTable } from "../src/options/option-row.ts";

const ROWS = [
  {
    name: "source",
    placeholder: "files:DIR",
    byDefault: "needed",
    text: "A folder of manifests, which is watched. What is allocated is written into its folder .status, where speakers read it.",
  },
  {
    name: "lb-class",
    placeholder: "CLASS",
    text: "Only Services with this loadBalancerClass; without it, only those that have none.",
  },
  {
    name: "no-conditions",
    text: "Services get no condition arpeggio.dev/Allocated.",
  },
  {
    name: "http-address",
    placeholder: "IP:PORT",
    byDefault: "127.0.0.1:17473",
    text: "Where /status, /pools, /services, /pending, /healthz, /readyz and /metrics are served.",
  },
  ...COMMON_ROWS,
] as const satisfies OptionTable<string>["rows"];

type OptionName = (typeof ROWS)[number]["name"];

export const OPTIONS: OptionTable<OptionName> = { program: "controller", rows: ROWS };
