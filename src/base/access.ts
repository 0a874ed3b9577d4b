/** What is known of somebody who wants to read something; asked of a cluster, answered to whoever asked over HTTP. Pure. */

/** `unknown`: it could not be asked; the sentence says why. */
export type AccessVerdict =
  | { readonly kind: "allowed" }
  | { readonly kind: "unauthenticated" }
  | { readonly kind: "forbidden"; readonly user: string }
  | { readonly kind: "unknown"; readonly sentence: string };
