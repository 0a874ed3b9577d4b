/**
 * Runs in a host's namespace for a test: GET over HTTPS with the token of the environment variable TOKEN; prints the body.
 *
 * usage: scrape-main.js URL
 */
import { request } from "node:https";

const LIMIT_MS = 5_000;

request(process.argv[2] ?? "", {
  headers: { authorization: `Bearer ${process.env["TOKEN"] ?? ""}` },
  // The speaker's certificate is of its own making.
  rejectUnauthorized: false,
  signal: AbortSignal.timeout(LIMIT_MS),
})
  .once("response", (response) => {
    if (response.statusCode !== 200) process.exitCode = 1;
    response.pipe(process.stdout);
  })
  .end();
