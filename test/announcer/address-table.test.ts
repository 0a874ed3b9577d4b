import { expect } from "chai";
import { AddressTable } from "../../src/announcer/address-table.ts";
import { ipBytes } from "../../src/net/ip.ts";
import { ip } from "./rig.ts";

const entry = (text: string) => ({ text, bytes: ipBytes(ip(text)) });
/** Two addresses that the table's key does not tell apart. */
const TWINS = [entry("2001:db8::1:0:0"), entry("2001:db8::1f")] as const;

describe("AddressTable", () => {
  const table = new AddressTable<ReturnType<typeof entry>>();
  const find = (text: string): string | undefined => {
    const bytes = ipBytes(ip(text));
    const frame = Uint8Array.from([9, 9, 9, ...bytes, 9]);
    return (bytes.length === 4 ? table.ipv4At(frame, 3) : table.ipv6At(frame, 3))?.text;
  };
  it("finds addresses of both families inside a frame, and no others", () => {
    for (const text of ["192.0.2.1", "255.255.255.255", "0.0.0.0", "2001:db8::1"]) table.set(entry(text));
    for (const text of ["192.0.2.1", "255.255.255.255", "0.0.0.0", "2001:db8::1"]) expect(find(text)).to.equal(text);
    for (const text of ["192.0.2.2", "1.2.0.192", "2001:db8::2", "::"]) expect(find(text)).to.equal(undefined);
    table.delete(ipBytes(ip("192.0.2.1")));
    expect(find("192.0.2.1")).to.equal(undefined);
  });
  it("tells apart addresses with one key, and keeps one when the other goes", () => {
    const [first, second] = TWINS;
    table.set(first);
    expect(find(second.text)).to.equal(undefined);
    table.set(second);
    expect([find(first.text), find(second.text)]).to.deep.equal([first.text, second.text]);
    table.delete(first.bytes);
    expect([find(first.text), find(second.text)]).to.deep.equal([undefined, second.text]);
    table.delete(second.bytes);
    expect(find(second.text)).to.equal(undefined);
  });
});
