// Measures the client in a headless Chromium. The page posts its result to the server that served it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The script of the page. */
const SCRIPT = `
import { connect } from "./src/index.ts";
import { DeskClient } from "./test/generated/desk.ts";
const [port, callers, calls] = location.search.slice(1).split(",").map(Number);
const client = new DeskClient(connect(\`ws://127.0.0.1:\${port}/\`));
const run = (calls) => Promise.all(Array.from({ length: callers }, async () => {
  for (let at = 0; at < calls; at++) await client.get({ millis: at });
}));
await run(Math.ceil(calls / 4));
const begun = performance.now();
await run(calls);
const rate = Math.round((callers * calls * 1000) / (performance.now() - begun));
await fetch("/", { method: "POST", body: JSON.stringify({ rate }) });
`;

const { outputFiles: [script] } = await build({
  stdin: { contents: SCRIPT, resolveDir: root },
  bundle: true, minify: true, write: false, format: "esm", target: "es2022", tsconfig: `${root}tsconfig.json`, logLevel: "error",
});

/** Serves the page. Returns the origin of the page, and a function that measures calls to a server. */
export async function browser() {
  let finish = () => {};
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      let body = "";
      request.on("data", (data) => (body += data)).on("end", () => finish(JSON.parse(body)));
      return response.end();
    }
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><meta charset="utf-8"><script type="module">${script.text}</script>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    async measure(port, callers, calls) {
      const profile = mkdtempSync(`${tmpdir()}/bench-`);
      const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", `--user-data-dir=${profile}`];
      const child = spawn(process.env.FRISBEE_CHROMIUM ?? "chromium", [...flags, `${origin}/?${port},${callers},${calls}`], { stdio: "ignore" });
      const failed = new Promise((_, reject) => child.once("error", reject));
      const result = await Promise.race([failed, new Promise((resolve) => (finish = resolve))]);
      child.kill("SIGKILL");
      await once(child, "exit");
      rmSync(profile, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
      return result;
    },
    close: () => server.close(),
  };
}
