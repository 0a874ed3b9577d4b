/** The objects of admissionregistration.k8s.io/v1: a ValidatingAdmissionPolicy over one of our resources, and its binding. Pure. */
import { CRD_GROUP, CRD_VERSION } from "../crd/group.ts";

/** CEL; a false `expression` refuses with the text that `messageExpression` or, failing that, `message` gives. */
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

/** CEL by a name, for those after it as `variables.NAME`; evaluated when first needed. */
export interface Variable {
  readonly name: string;
  readonly expression: string;
}

export interface Rules {
  readonly variables: readonly Variable[];
  readonly validations: readonly Validation[];
}

export interface Policy {
  readonly name: string;
  /** Plural, such as ipaddresspools. */
  readonly resource: string;
  /** Evaluated once for every object of this kind in the same namespace, as `params`. */
  readonly paramKind?: string;
  readonly rules: readonly Rules[];
}

const API_VERSION = "admissionregistration.k8s.io/v1";

export function policyObjects({ name, resource, paramKind, rules }: Policy): readonly object[] {
  return [
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        ...(paramKind === undefined
          ? {}
          : { paramKind: { apiVersion: `${CRD_GROUP}/${CRD_VERSION}`, kind: paramKind } }),
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [CRD_GROUP],
              apiVersions: [CRD_VERSION],
              operations: ["CREATE", "UPDATE"],
              resources: [resource],
            },
          ],
        },
        // What was there before the policy can still get labels, or lose its finalizers.
        matchConditions: [
          { name: "spec-changes", expression: "request.operation == 'CREATE' || object.?spec != oldObject.?spec" },
        ],
        variables: rules.flatMap(({ variables }) => variables),
        validations: rules
          .flatMap(({ validations }) => validations)
          .map((validation) => ({ ...validation, reason: "Invalid" })),
      },
    },
    {
      apiVersion: API_VERSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: {
        policyName: name,
        ...(paramKind === undefined ? {} : { paramRef: { selector: {}, parameterNotFoundAction: "Allow" } }),
        validationActions: ["Deny"],
      },
    },
  ];
}
