/** What `arpeggio --help` and `--version` print. Pure. */
import { VERSION } from "../src/base/version.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SELECTOR } from "./options.ts";

export function formatVersion(): string {
  return `arpeggio ${VERSION}, node ${process.versions.node}\n`;
}

export function formatHelp(): string {
  return `arpeggio ${VERSION}
Asks every speaker who leads which address, and why. Reads only.

usage: arpeggio status [option]…
       arpeggio why ADDRESS|NAMESPACE/SERVICE [option]…
The same as kubectl arpeggio …, if kubectl-arpeggio is in the PATH.

  status        All speakers and all addresses, and who disagrees.
  why ADDRESS   The leader's decision about one address: every candidate with
                rank and tier, every other member with the reason against it.
  why NAMESPACE/SERVICE
                The same for every address of the Service.

  -n, --namespace=NAME
        Namespace of the speakers. Default: ${DEFAULT_NAMESPACE}.
  -l, --selector=LABELS
        Labels of the speakers' pods.
        Default: ${DEFAULT_SELECTOR}.
  --kubeconfig=FILE
        Default: what KUBECONFIG names, else ~/.kube/config.
  --context=NAME
        A context of it. Default: its current one.
  --urls=URL,…
        Speakers without Kubernetes: http://HOST[:PORT], where PORT is 17472
        if not given, or unix:PATH of a socket that leads to one.
  -o, --output=text|json
        Default: text.
  --version
  -h, --help

exit code: 0  every speaker that was asked answers, is ready, and agrees
           1  one of them does not, or none knows the ADDRESS or SERVICE
           2  the command line is wrong
An address that nobody leads is an answer like any other: exit code 0.
`;
}
