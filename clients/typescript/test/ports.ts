/** Ports of the servers that tests run in their own process. */

import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Listens on a free local port and resolves to it. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
