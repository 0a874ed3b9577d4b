/**
 * The policies of manifests/components/validation: what MetalLB checks in a webhook, and more, without a webhook and its certificate.
 * They work over our CustomResourceDefinitions and over MetalLB's. `hack/manifests` writes the files.
 */
import { NAMESPACE } from "../rbac.ts";
import { clashVariables, entryVariables, innerClashVariable, SIZES } from "./overlap.ts";
import type { Policy, Rules, Validation } from "./policy.ts";
import { ENTRY_RULES, type EntryRule } from "./pool-entry-rules.ts";
import { preferenceRules, selectorRules, wordRules } from "./selector-rules.ts";

/** MetalLB's words; a resource that was in another namespace before may still be changed. */
const RIGHT_NAMESPACE: Rules = {
  variables: [],
  validations: [
    {
      expression: `request.operation != 'CREATE' || request.namespace == '${NAMESPACE}'`,
      messageExpression: `'metadata.namespace is "' + request.namespace + '": resource must be created in ${NAMESPACE} namespace'`,
    },
  ],
};

const ADDRESSES = "variables.addresses";
const addressesVariable = { name: "addresses", expression: "has(object.spec.addresses) ? object.spec.addresses : []" };

/** Entries are compared with each other up to so many. */
const MAX_ENTRIES_COMPARED = 200;

const POOLS: Policy = {
  name: "arpeggio-pools",
  resource: "ipaddresspools",
  rules: [
    RIGHT_NAMESPACE,
    {
      variables: [addressesVariable],
      validations: [
        { expression: `${ADDRESSES}.size() > 0`, message: "spec.addresses must not be empty" },
        ...ENTRY_RULES.map(everyEntry),
        {
          expression: `${ADDRESSES}.size() > ${MAX_ENTRIES_COMPARED} || !${ADDRESSES}.exists(a, ${isTwice("a")})`,
          messageExpression: `'spec.addresses names "' + ${ADDRESSES}.filter(a, ${isTwice("a")})[0] + '" twice'`,
        },
      ],
    },
    {
      variables: [SIZES, ...entryVariables("own", ADDRESSES), innerClashVariable("own")],
      validations: [
        {
          expression: "variables.clashes.size() == 0",
          messageExpression: overlapSentence("last", "of the same pool'"),
        },
      ],
    },
    wordRules("spec.serviceAllocation.namespaces"),
    selectorRules("spec.serviceAllocation.namespaceSelectors"),
    selectorRules("spec.serviceAllocation.serviceSelectors"),
  ],
};

const OVERLAPS: Policy = {
  name: "arpeggio-pool-overlaps",
  resource: "ipaddresspools",
  paramKind: "IPAddressPool",
  rules: [
    {
      variables: [
        addressesVariable,
        {
          name: "others",
          expression:
            "params.metadata.name == object.metadata.name || !has(params.spec.addresses) ? [] : params.spec.addresses",
        },
        SIZES,
        ...entryVariables("own", ADDRESSES),
        ...entryVariables("other", "variables.others"),
        ...clashVariables("own", "other"),
      ],
      validations: [
        {
          expression: "variables.clashes.size() == 0",
          messageExpression: overlapSentence("first", `of pool "' + params.metadata.name + '"'`),
        },
      ],
    },
  ],
};

const ADVERTISEMENTS: Policy = {
  name: "arpeggio-advertisements",
  resource: "l2advertisements",
  rules: [
    RIGHT_NAMESPACE,
    wordRules("spec.ipAddressPools"),
    selectorRules("spec.ipAddressPoolSelectors"),
    selectorRules("spec.nodeSelectors"),
    selectorRules("spec.serviceSelectors"),
    preferenceRules("spec.preferredNodeSelectors"),
  ],
};

export const POLICIES: readonly Policy[] = [POOLS, OVERLAPS, ADVERTISEMENTS];

function everyEntry({ holds, message, sentence }: EntryRule): Validation {
  return {
    expression: `${ADDRESSES}.all(a, ${holds("a")})`,
    message: `spec.addresses has an entry that ${message}`,
    messageExpression: `'spec.addresses: ' + ${sentence(`${ADDRESSES}.filter(a, !(${holds("a")}))[0]`)}`,
  };
}

function isTwice(entry: string): string {
  return `${ADDRESSES}.indexOf(${entry}) != ${ADDRESSES}.lastIndexOf(${entry})`;
}

/** CEL. The phrase that MetalLB's users and tests search for is in it. */
function overlapSentence(which: "first" | "last", whose: string): string {
  const clash = `variables.clashes[${which === "first" ? "0" : "variables.clashes.size() - 1"}]`;
  return (
    `'spec.addresses: "' + ${clash}.text + '" of pool "' + object.metadata.name + '" overlaps with already defined CIDR "'` +
    ` + ${clash}.with + '" ${whose}`
  );
}
