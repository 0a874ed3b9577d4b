/** Core v1 Namespace, as far as Arpeggio reads it: name and labels. */
import type { Type } from "typebox";
import { Resource } from "./object-meta.ts";

export const NamespaceSchema = Resource("Namespace", "v1", {});

export type NamespaceResource = Type.Static<typeof NamespaceSchema>;
