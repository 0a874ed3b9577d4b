/** `/status/addresses/:ip` as aligned text. Pure: ages are counted up to the document's own time. */
import type { AddressDocument } from "../../api/address.ts";
import { differingViewsSentence, formatViews, HASH_DIGITS } from "./differing-views.ts";
import { foreignReasonText, reasonText } from "./reason-text.ts";
import { strictSentence } from "./strict-sentence.ts";
import { formatAge, formatTable, printable } from "./table.ts";

export function formatAddress(document: AddressDocument): string {
  const { viewsDiffer } = document;
  return [
    formatHead(document),
    viewsDiffer === undefined ? "" : formatViews(viewsDiffer),
    formatServices(document),
    formatCandidates(document),
    formatRefusals(document),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function formatHead(document: AddressDocument): string {
  const {
    at,
    since,
    leader,
    previousLeader,
    reason,
    group,
    links,
    lastAnnouncement,
    viewsDiffer,
    orphan,
    sticky,
    strict,
  } = document;
  const before = previousLeader === undefined ? "" : `, before that ${previousLeader}`;
  const announced = lastAnnouncement === undefined ? "" : `, last announced ${formatAge(lastAnnouncement, at)} ago`;
  const facts = [
    ["address", document.address],
    ["leader", `${leader ?? "nobody"} for ${formatAge(since, at)}${before}`],
    ["reason", `${reason}: ${reasonText(reason)}`],
    ...(orphan === undefined
      ? []
      : [["orphan", `${orphan.leader} is elected, and says ${foreignReasonText(orphan.reason)}`]]),
    ...(viewsDiffer === undefined ? [] : [["views", `differ: ${differingViewsSentence(viewsDiffer)}`]]),
    ...(sticky === undefined ? [] : [["sticky", stickySentence(sticky, leader, document.rule)]]),
    ...(strict === undefined ? [] : [["strict", strictSentence(strict, at)]]),
    ["rule", document.rule],
    ...(group === undefined ? [] : [["group", `${group.key}: ${group.addresses.join(", ")}`]]),
    ["here", `${document.node} is ${document.state}, ${document.requestsAnswered} requests answered${announced}`],
    ...(links.length === 0 ? [] : [["links", links.join(", ")]]),
  ];
  return facts.map(([name = "", text = ""]) => `${name.padEnd(9)}${printable(text)}\n`).join("");
}

function stickySentence(
  { isInForce, holder, term, insteadOf }: NonNullable<AddressDocument["sticky"]>,
  leader: string | undefined,
  rule: string,
): string {
  if (!isInForce) return `not in force under ${rule}`;
  if (holder === undefined) return "nobody has held it yet";
  if (leader === undefined) return `${holder} held it last, in term ${term}`;
  if (insteadOf === undefined) return `${holder} holds it, term ${term}`;
  return `${holder} keeps it: sticky since term ${term}, ${insteadOf} would come first otherwise`;
}

function formatServices({ services }: AddressDocument): string {
  return formatTable(
    ["SERVICE", "POLICY", "ADVERTISEMENTS"],
    services.map(({ service, externalTrafficPolicy, advertisements, refused }) => [
      service,
      externalTrafficPolicy ?? "-",
      refused === undefined ? advertisements.join(" ") : `${refused}: ${reasonText(refused)}`,
    ]),
  );
}

function formatCandidates({ candidates }: AddressDocument): string {
  return formatTable(
    ["RANK", "NODE", "TIER", "SCORE", "ENDPOINTS", "HASH", "NOTE"],
    candidates.map(({ rank, node, tier, tierReason, score, endpointClass, hash }) => [
      String(rank),
      node,
      String(tier),
      String(score),
      endpointClass,
      hash.slice(0, HASH_DIGITS),
      tierReason === undefined ? "" : `${tierReason}: ${reasonText(tierReason)}`,
    ]),
  );
}

function formatRefusals({ refusals }: AddressDocument): string {
  return formatTable(
    ["REFUSED", "REASON"],
    refusals.map(({ node, reason }) => [node, `${reason}: ${reasonText(reason)}`]),
  );
}
