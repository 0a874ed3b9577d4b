/** What the watches hold besides the snapshot: the objects that are written back to, and those whose names are needed for it. */

/** What every object is known by. */
export interface ObjectIdentity {
  /** Empty for what belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A ServiceL2Status in the speaker's namespace, ours or MetalLB's. */
export interface WatchedL2Status extends ObjectIdentity {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly OwnerReference[];
  /** Empty between its creation and the first write of its status. */
  readonly status: {
    readonly node?: string;
    readonly serviceName?: string;
    readonly serviceNamespace?: string;
    readonly interfaces?: readonly string[];
  };
}

/** The speaker's own ConfigurationState. */
export interface WatchedConfigurationState extends ObjectIdentity {
  readonly labels: Readonly<Record<string, string>>;
  readonly owners: readonly OwnerReference[];
  readonly result?: string;
  readonly errorSummary?: string;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
  }[];
}

export interface WatchedPod extends ObjectIdentity {
  readonly podIp?: string;
  readonly nodeName?: string;
  readonly phase?: string;
  readonly isBeingDeleted: boolean;
}

/** Read at the moment of writing; undefined collections were not listed yet. */
export interface WatchedObjects {
  serviceUid(namespace: string, name: string): string | undefined;
  /** Those of the speaker's namespace, by name. */
  readonly l2Statuses: ReadonlyMap<string, WatchedL2Status> | undefined;
  /** `null`: listed, and absent. */
  readonly configurationState: WatchedConfigurationState | null | undefined;
  /** Those of the speaker's namespace, by name. */
  readonly pods: ReadonlyMap<string, WatchedPod> | undefined;
}

/** A resource that was read and does not count as it stands; the sentence names object, field and value. */
export interface ResourceProblem {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly sentence: string;
  /** not-served: a BGP kind. refused: invalid, or overlaps an older pool. default-stands: it counts, but for an annotation. */
  readonly problem: "refused" | "not-served" | "default-stands";
}
