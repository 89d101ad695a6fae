/** The way of a new user: the packed package, code from a schema by one command, and a page that uses it. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, test } from "node:test";
import { build } from "esbuild";
import { desk, folder } from "./desk.js";
import { chromium } from "./guest/chromium.js";

const GENERATOR = `${process.cwd()}/${process.env["CARGO_TARGET_DIR"] ?? "../../target"}/debug/protoc-gen-frpc`;

/** What a user writes. */
const APPLICATION = `
import { connect, Status, Topics } from "frisbee-rpc";
import { DeskClient } from "./generated/desk.js";

export async function use(url: string): Promise<string> {
  const channel = connect(url, { metadata: { authorization: "Bearer token" } });
  const desk = new DeskClient(channel);
  const topics = new Topics(channel);
  const created = await topics.subscribe("orders.*.created");
  const { total } = await desk.add({ a: 40n, b: 2n }, { timeout: 5000 });
  let count = 0;
  for await (const { value } of desk.count({ from: 1n, count: 3 })) count += Number(value);
  await topics.publish("orders.7.created", "an order");
  const { value } = await created.next();
  const refused: unknown = await desk.fail({ code: 5, text: "gone" }).catch((error: unknown) => error);
  channel.close();
  return \`\${total} \${count} \${value?.topic} \${refused instanceof Status ? refused.message : "?"}\`;
}
`;
const EXPECTED = "42 6 orders.7.created gone";

test("a new user gets a page that calls, streams and subscribes from an empty folder", async (context) => {
  const root = process.cwd();
  const here = folder();
  const run = (program: string, ...words: string[]): string => execFileSync(program, words, { cwd: here, encoding: "utf8" });

  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", here], { cwd: root, encoding: "utf8" }).trim();
  writeFileSync(`${here}/package.json`, '{ "private": true, "type": "module" }');
  run("npm", "install", "--silent", "--offline", `./${packed}`);
  mkdirSync(`${here}/proto`);
  for (const name of ["desk.proto", "desk.frpc.lock"]) copyFileSync(`${root}/../../tests/typescript/proto/${name}`, `${here}/proto/${name}`);
  run(GENERATOR, "generate", "lang=ts", "src/generated", "proto/desk.proto");
  writeFileSync(`${here}/src/application.ts`, APPLICATION);

  const { compilerOptions } = JSON.parse(readFileSync(`${root}/tsconfig.json`, "utf8")) as { compilerOptions: object };
  writeFileSync(`${here}/tsconfig.json`, JSON.stringify({
    compilerOptions: { ...compilerOptions, types: [], paths: {}, skipLibCheck: false, lib: ["ES2022", "DOM", "DOM.Iterable"] }, include: ["src"],
  }));
  run("node", `${root}/node_modules/typescript/bin/tsc`, "-p", here);

  const options = { stdin: { contents: 'import { use } from "./src/application.js"; globalThis.use = use;', resolveDir: here }, bundle: true, format: "esm", write: false, minify: true } as const;
  const { outputFiles: [page] } = await build(options);
  const http = createServer((request, response) => {
    // As strict as a page can be: no code from texts, nothing from elsewhere.
    response.setHeader("content-security-policy", "default-src 'none'; script-src 'self'; connect-src ws:");
    response.setHeader("content-type", request.url === "/" ? "text/html" : "text/javascript");
    response.end(request.url === "/" ? '<!doctype html><title>page</title><script type="module" src="page.js"></script>' : page?.text);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  after(() => {
    http.closeAllConnections();
    http.close();
  });
  const origin = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
  const server = await desk(undefined, "--origin", origin);
  try {
    const open = await chromium(`${here}/profile`, []);
    if (!open) {
      assert.notEqual(process.env["FRISBEE_REQUIRE_CHROMIUM"], "1");
      return context.skip("Chromium is not installed");
    }
    const opened = await open(`${origin}/`);
    assert.equal(await opened.evaluate(`use("ws://127.0.0.1:${server.port}/")`), EXPECTED);
  } finally {
    await server.stop();
  }
});
