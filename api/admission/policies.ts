/**
 * The policies of manifests/components/validation: what MetalLB checks in a webhook, and more, without a webhook and its certificate.
 * They work over our CustomResourceDefinitions and over MetalLB's. `hack/manifests` writes the files.
 */
import { NAMESPACE } from "../rbac.ts";
import { clashVariables, entryVariables, innerClashVariable, SIZES } from "./overlap.ts";
import type { Policy, Validation } from "./policy.ts";
import { ENTRY_RULES, type EntryRule } from "./pool-entry-rules.ts";
import { noRepeatedWord, preferenceValidations, selectorValidations } from "./selector-rules.ts";

/** MetalLB's words; a resource that was in another namespace before may still be changed. */
const RIGHT_NAMESPACE: Validation = {
  expression: `request.operation != 'CREATE' || request.namespace == '${NAMESPACE}'`,
  messageExpression: `'metadata.namespace is "' + request.namespace + '": resource must be created in ${NAMESPACE} namespace'`,
};

const ENTRIES = "variables.entries";
const entriesVariable = { name: "entries", expression: "has(object.spec.addresses) ? object.spec.addresses : []" };

const POOLS: Policy = {
  name: "arpeggio-pools",
  resource: "ipaddresspools",
  variables: [entriesVariable, SIZES, ...entryVariables("own", ENTRIES), innerClashVariable("own")],
  validations: [
    RIGHT_NAMESPACE,
    { expression: `${ENTRIES}.size() > 0`, message: "spec.addresses must not be empty" },
    ...ENTRY_RULES.map(everyEntry),
    noRepeatedWordUpTo(200, "spec.addresses"),
    {
      expression: "variables.clashes.size() == 0",
      messageExpression: overlapSentence("last", "of the same pool"),
    },
    noRepeatedWord("spec.serviceAllocation.namespaces"),
    ...selectorValidations("spec.serviceAllocation.namespaceSelectors"),
    ...selectorValidations("spec.serviceAllocation.serviceSelectors"),
  ],
};

const OVERLAPS: Policy = {
  name: "arpeggio-pool-overlaps",
  resource: "ipaddresspools",
  paramKind: "IPAddressPool",
  variables: [
    entriesVariable,
    {
      name: "others",
      expression:
        "params.metadata.name == object.metadata.name || !has(params.spec.addresses) ? [] : params.spec.addresses",
    },
    SIZES,
    ...entryVariables("own", ENTRIES),
    ...entryVariables("other", "variables.others"),
    ...clashVariables("own", "other"),
  ],
  validations: [
    {
      expression: "variables.clashes.size() == 0",
      messageExpression: overlapSentence("first", `of pool "' + params.metadata.name + '"`),
    },
  ],
};

const ADVERTISEMENTS: Policy = {
  name: "arpeggio-advertisements",
  resource: "l2advertisements",
  variables: [],
  validations: [
    RIGHT_NAMESPACE,
    noRepeatedWord("spec.ipAddressPools"),
    ...selectorValidations("spec.ipAddressPoolSelectors"),
    ...selectorValidations("spec.nodeSelectors"),
    ...selectorValidations("spec.serviceSelectors"),
    ...preferenceValidations("spec.preferredNodeSelectors"),
  ],
};

export const POLICIES: readonly Policy[] = [POOLS, OVERLAPS, ADVERTISEMENTS];

function everyEntry({ holds, message, sentence }: EntryRule): Validation {
  return {
    expression: `${ENTRIES}.all(a, ${holds("a")})`,
    message: `spec.addresses has an entry that ${message}`,
    messageExpression: `'spec.addresses: ' + ${sentence(`${ENTRIES}.filter(a, !(${holds("a")}))[0]`)}`,
  };
}

/** Comparing each with each costs too much for long lists. */
function noRepeatedWordUpTo(entries: number, list: string): Validation {
  const validation = noRepeatedWord(list);
  return { ...validation, expression: `${ENTRIES}.size() > ${entries} || ${validation.expression}` };
}

/** The phrase that MetalLB's users and tests search for is in it. */
function overlapSentence(which: "first" | "last", whose: string): string {
  const clash = `variables.clashes[${which === "first" ? "0" : "variables.clashes.size() - 1"}]`;
  return `'spec.addresses: "' + ${clash}.text + '" of pool "' + object.metadata.name + '" overlaps with already defined CIDR "' + ${clash}.with + '" ${whose}'`;
}
