/** One option of a daemon: its help and how it is read come from here. */

export interface OptionRow {
  readonly name: string;
  /** What stands for the value in help; absent for a switch. */
  readonly placeholder?: string;
  /** Read when the option is not given; a variable that is set but empty counts as not set, as in MetalLB. */
  readonly variable?: string;
  /** As printed; absent: none, or off for a switch. */
  readonly byDefault?: string;
  readonly text: string;
  /** The source of truth with which alone it means something; absent: both. */
  readonly source?: "files" | "kubernetes";
  /** Accepted so that MetalLB's manifests keep working. */
  readonly hasNoEffect?: true;
}

/** Every option of one program. */
export interface OptionTable<Name extends string> {
  /** As sentences call it: `--x is not an option of the speaker`. */
  readonly program: string;
  readonly rows: readonly (OptionRow & { readonly name: Name })[];
}
