/** Starts servers for guests, and serves their page. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { desk } from "../desk.js";
import type { Desk } from "../transports.js";

/** Path of the tests bundled as one module for guests, built by `scripts/test.mjs`. */
export const GUEST = fileURLToPath(new URL("guest/guest.mjs", import.meta.url));

export interface Host {
  readonly origin: string;
  start(...flags: string[]): Promise<Desk>;
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return JSON.parse(body);
}

/** Starts a host. Its servers accept calls from its pages, and use a certificate in `folder`. */
export async function startHost(folder: string): Promise<Host> {
  const desks = new Map<number, Desk>();
  let next = 0;
  const server = createServer((request, response) => {
    const answer = async (): Promise<string> => {
      switch (request.url) {
        case "/":
          response.setHeader("content-type", "text/html");
          return '<!doctype html><title>guest</title><script type="module" src="guest.mjs"></script>';
        case "/guest.mjs":
          response.setHeader("content-type", "text/javascript");
          return readFileSync(GUEST, "utf8");
        case "/start": {
          const { address, flags } = (await jsonBody(request)) as { address: string; flags: string[] };
          const started = await desk(address, "--tls", folder, "--origin", origin, ...flags);
          desks.set(next, started);
          return JSON.stringify({ id: next++, port: started.port, address: started.address });
        }
        case "/stop": {
          const { id } = (await jsonBody(request)) as { id: number };
          await desks.get(id)?.stop();
          desks.delete(id);
          return "null";
        }
        default:
          response.statusCode = 404;
          return "";
      }
    };
    answer().then(
      (text) => response.end(text),
      (error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  after(async () => {
    server.closeAllConnections();
    server.close();
    for (const one of desks.values()) await one.stop();
  });
  return { origin, start: (...flags) => desk(undefined, "--tls", folder, "--origin", origin, ...flags) };
}
