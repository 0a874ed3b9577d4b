/** Where a speaker of the cluster can be reached, as the kernel says it, and what its HTTPS port says to those who do not speak TLS. */
import { expect } from "chai";
import { useCluster } from "../support/kube.ts";
import { listeners, speakerPid, speakerPods } from "../support/speaker-pods.ts";

/** Runs on the client. */
const PLAIN_REQUEST = `
require("node:http").get(process.argv[1], (response) => {
  response.setEncoding("utf8").on("data", (text) => console.log(response.statusCode, text.trim()));
});`;

describe("a speaker's listeners", () => {
  const kube = useCluster();

  it("are gossip and metrics on the node's address, health on loopback, and nothing else", async function () {
    this.timeout(90_000);
    for (const { spec } of await speakerPods(kube())) {
      const { ipv4 } = kube().node(spec.nodeName);
      expect(listeners(speakerPid(kube(), spec.nodeName))).to.deep.equal([
        "tcp 127.0.0.1:17472",
        `tcp ${ipv4}:7946`,
        `tcp ${ipv4}:9120`,
        `udp ${ipv4}:7946`,
      ]);
    }
  });

  it("tell a client that speaks plain HTTP to the metrics' port what it should speak", async () => {
    const url = `http://${kube().node("n1").ipv4}:9120/metrics`;
    const said = await kube().onClient([process.execPath, "-e", PLAIN_REQUEST, url]);
    expect(said).to.equal("400 this port speaks HTTPS\n");
  });
});
