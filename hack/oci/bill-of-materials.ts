/** What is in the image (CycloneDX): `npm sbom`, and beside it Node and the Debian packages, which npm does not know. */
import type { Architecture } from "./architecture.ts";
import type { DebianPackage } from "./debian-packages.ts";

interface Component {
  readonly name: string;
  readonly version: string;
}

interface Document {
  readonly components: readonly Component[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Without the number and the time that npm makes up, so that the same image has the same text. */
export function completeBillOfMaterials(
  npmSbom: string,
  architecture: Architecture,
  packages: readonly DebianPackage[],
): string {
  const { components, metadata, ...rest } = JSON.parse(npmSbom) as Document;
  const debian = packages.map(({ name, version }) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture.name}`;
    return { "bom-ref": purl, type: "library", name, version, purl };
  });
  const ofThisImage = components.filter(
    ({ name }) => !name.startsWith("node-linux-") || name === architecture.nodePackage,
  );
  const document = {
    ...rest,
    serialNumber: undefined,
    metadata: { ...metadata, timestamp: undefined },
    components: [...ofThisImage, ...debian],
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
