/** What the OpenAPI documents of both daemons say in the same words. */

export const TEXT = { "text/plain": { schema: { type: "string" } } } as const;
export const PROBLEM = {
  description: "What is wrong, with a stable code",
  content: {
    ...TEXT,
    "application/json": {
      schema: {
        type: "object",
        required: ["code", "sentence"],
        properties: { code: { type: "string" }, sentence: { type: "string" } },
      },
    },
  },
} as const;

export function textAnswer(description: string) {
  return { description, content: TEXT };
}
