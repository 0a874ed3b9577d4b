/** What every Kubernetes object carries, as far as Arpeggio reads it. Other fields are allowed and ignored. */
import { type TProperties, Type } from "typebox";

const Texts = Type.Record(Type.String(), Type.String());

/** Kubernetes writes null for what is empty; both are left out here. */
export function Nullable<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const ObjectMeta = Type.Object({
  name: Type.String({ minLength: 1 }),
  namespace: Nullable(Type.String({ minLength: 1 })),
  labels: Nullable(Texts),
  annotations: Nullable(Texts),
  creationTimestamp: Nullable(Type.String()),
  deletionTimestamp: Nullable(Type.String()),
});

/** An object of one kind; `fields` are its other top-level fields. */
export function Resource<Kind extends string, Version extends string, Fields extends TProperties>(
  kind: Kind,
  apiVersion: Version,
  fields: Fields,
) {
  return Type.Object({
    apiVersion: Type.Literal(apiVersion),
    kind: Type.Literal(kind),
    metadata: ObjectMeta,
    ...fields,
  });
}
