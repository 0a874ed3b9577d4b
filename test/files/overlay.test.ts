import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ServiceFacts } from "../../src/desired/snapshot.ts";
import { mergeFiles, type SourceProblem } from "../../src/files/file-state.ts";
import { FolderSource } from "../../src/files/folder-source.ts";
import {
  formatOverlay,
  laidOver,
  type Overlay,
  overlayFileName,
  overlayKey,
  parseOverlay,
} from "../../src/files/overlay.ts";
import { OverlayFolder } from "../../src/files/overlay-folder.ts";
import { after, POOL, SERVICE } from "./manifests.ts";

function overlay(status: unknown, changed: Partial<Overlay> = {}): Overlay {
  return {
    apiVersion: "v1",
    kind: "Service",
    namespace: "default",
    name: "web",
    annotations: { "metallb.io/ip-allocated-from-pool": "main" },
    createdAt: "2026-01-02T03:04:05Z",
    status,
    ...changed,
  };
}

const GIVEN = overlay({ loadBalancer: { ingress: [{ ip: "192.0.2.7" }, { ip: "2001:db8::7" }] } });

function service(manifest: string, ...overlays: readonly Overlay[]): ServiceFacts | undefined {
  const { snapshot } = mergeFiles([after(manifest)], new Map(overlays.map((each) => [overlayKey(each), each])));
  return snapshot.services.get("default/web");
}

describe("files: what an allocator wrote", () => {
  it("wins over what the manifest asks for, and over its status", () => {
    expect(service(SERVICE)?.addresses).to.deep.equal(["192.0.2.1"]);
    expect(service(SERVICE, GIVEN)?.addresses).to.deep.equal(["192.0.2.7", "2001:db8::7"]);
    const shown = `${SERVICE}status: {loadBalancer: {ingress: [{ip: 192.0.2.9}]}}\n`;
    expect(service(shown, GIVEN)?.addresses).to.deep.equal(["192.0.2.7", "2001:db8::7"]);
  });

  it("is obeyed when it says that there is no address", () => {
    expect(service(SERVICE, overlay({ loadBalancer: {} }))?.addresses).to.deep.equal([]);
  });

  it("says nothing of addresses where it has none to say", () => {
    expect(service(SERVICE, overlay({}))?.addresses).to.deep.equal(["192.0.2.1"]);
  });

  it("says when an object was first seen, unless its manifest knows better", () => {
    expect(service(SERVICE, GIVEN)?.createdAt).to.equal("2026-01-02T03:04:05Z");
    const older = SERVICE.replace("name: web", "name: web\n  creationTimestamp: '2020-01-01T00:00:00Z'");
    expect(service(older, GIVEN)?.createdAt).to.equal("2020-01-01T00:00:00Z");
    const ofPool = overlay({}, { kind: "IPAddressPool", name: "main", namespace: "lb" });
    const { snapshot } = mergeFiles([after(POOL)], new Map([[overlayKey(ofPool), ofPool]]));
    expect(snapshot.pools.get("main")?.createdAt).to.equal("2026-01-02T03:04:05Z");
  });

  it("is for one kind, namespace and name", () => {
    const others = [
      { ...GIVEN, name: "web2" },
      { ...GIVEN, namespace: "lb" },
      { ...GIVEN, kind: "IPAddressPool" },
    ];
    expect(service(SERVICE, ...others)?.addresses).to.deep.equal(["192.0.2.1"]);
  });

  it("replaces the allocator's annotation of an exported manifest, and leaves others", () => {
    const exported = {
      metadata: { annotations: { "metallb.io/ip-allocated-from-pool": "old", "example.org/x": "y" } },
    };
    expect(laidOver(exported, overlay({}, { annotations: {} }))).to.deep.equal({
      metadata: { annotations: { "example.org/x": "y" }, creationTimestamp: "2026-01-02T03:04:05Z" },
      status: {},
    });
  });

  it("is read as it was written", () => {
    const whole = overlay({ loadBalancer: { ingress: [{ ip: "::1" }] }, conditions: [{ type: "x", message: "a: b" }] });
    expect(parseOverlay(formatOverlay(whole))).to.deep.equal(whole);
  });

  it("is nothing without kind, name and status", () => {
    for (const text of [
      "",
      "a",
      "kind: Service",
      "{apiVersion: v1, kind: Service, metadata: {name: a}}",
      "a: [",
      "- 1",
    ])
      expect(parseOverlay(text), text).to.equal(undefined);
  });

  it("stays in its folder, whatever it is called", () => {
    const name = overlayFileName({ kind: "Service", namespace: "../a.b", name: "../../etc/web" });
    expect(name).to.equal("service.%2E%2E%2Fa%2Eb...%2F..%2Fetc%2Fweb.yaml");
  });
});

describe("OverlayFolder", () => {
  let folder = "";
  let source: FolderSource | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arpeggio-overlay-"));
  });
  afterEach(async () => {
    await source?.close();
    source = undefined;
    await rm(folder, { recursive: true });
  });

  it("gives the same value until something changes", async () => {
    const overlays = new OverlayFolder(folder);
    const empty = await overlays.read();
    expect(empty.overlays.size).to.equal(0);
    expect(await overlays.read()).to.equal(empty);
    await overlays.write(GIVEN);
    const one = await overlays.read();
    expect(one.overlays.get("services default/web")).to.deep.equal(GIVEN);
    expect(await overlays.read()).to.equal(one);
    expect(await readdir(join(folder, ".status"))).to.deep.equal(["service.default.web.yaml"]);
    await overlays.remove(GIVEN);
    expect((await overlays.read()).overlays.size).to.equal(0);
  });

  it("keeps the last good form of a file that is broken, and says so", async () => {
    const overlays = new OverlayFolder(folder);
    await overlays.write(GIVEN);
    await overlays.read();
    await writeFile(join(folder, ".status/service.default.web.yaml"), "status: [");
    const { overlays: kept, problems } = await overlays.read();
    expect(kept.get("services default/web")).to.deep.equal(GIVEN);
    expect(problems.map(({ sentence }) => sentence)).to.deep.equal([
      ".status/service.default.web.yaml: is nothing that an allocator wrote",
    ]);
  });

  it("is seen by a source that watches the manifests, and its files are none of them", async () => {
    await writeFile(join(folder, "web.yaml"), SERVICE);
    let seen: readonly string[] = [];
    let said: readonly SourceProblem[] = [];
    let wake: (() => void) | undefined;
    source = new FolderSource({
      folder,
      onChange: (snapshot, problems) => {
        seen = snapshot?.services.get("default/web")?.addresses ?? [];
        said = problems;
        wake?.();
      },
    });
    await source.start();
    const change = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await work();
      await changed;
      return seen;
    };
    expect(seen).to.deep.equal(["192.0.2.1"]);
    const overlays = new OverlayFolder(folder);
    expect(await change(() => overlays.write(GIVEN))).to.deep.equal(["192.0.2.7", "2001:db8::7"]);
    const none = overlay({ loadBalancer: {} });
    expect(await change(() => overlays.write(none))).to.deep.equal([]);
    await mkdir(join(folder, ".status/.x"), { recursive: true });
    expect(await change(() => overlays.remove(GIVEN))).to.deep.equal(["192.0.2.1"]);
    expect(said).to.deep.equal([]);
  });
});
