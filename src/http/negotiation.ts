/** Whether a client wants JSON or text (RFC 9110 §12.5.1). Pure. */

/** JSON only when it is named and text/plain is not named as better: `curl` and browsers get text. */
export function prefersJson(accept: string | undefined): boolean {
  const json = qualityOf(accept ?? "", "application/json");
  return json > 0 && json >= qualityOf(accept ?? "", "text/plain");
}

/** The weight at which `type` itself is listed; 0 when it is not. */
function qualityOf(accept: string, type: string): number {
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (name !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    return Number.isNaN(quality) ? 0 : quality;
  }
  return 0;
}
