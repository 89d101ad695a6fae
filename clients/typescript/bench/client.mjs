// Runs one measurement in its own process: `node client.mjs NAME PORT CALLERS CALLS`. After a warm-up, prints calls per
// second and this process's CPU time per call in microseconds, as a line of JSON.
import { bench } from "./schema.mjs";

const [name, port, callers, calls] = [process.argv[2], ...process.argv.slice(3).map(Number)];

const CLIENTS = {
  async frpc() {
    const { connect, DeskClient } = await import("../build/bench.mjs");
    const client = new DeskClient(connect({ host: "127.0.0.1", port }));
    return (time) => client.get(time);
  },
  async "frpc-websocket"() {
    const { connectWeb, DeskClient } = await import("../build/bench.mjs");
    const { WebSocket } = await import("ws");
    const client = new DeskClient(connectWeb(`ws://127.0.0.1:${port}/`, { WebSocket }));
    return (time) => client.get(time);
  },
  async "grpc-js"() {
    const { credentials, loadPackageDefinition } = await import("@grpc/grpc-js");
    const { bench } = loadPackageDefinition((await import("./grpc.mjs")).definition());
    const client = new bench.Bench(`127.0.0.1:${port}`, credentials.createInsecure());
    return (time) => new Promise((resolve, reject) => client.Get(time, (error, reply) => (error ? reject(error) : resolve(reply))));
  },
  async connect() {
    const { createClient } = await import("@connectrpc/connect");
    const { createConnectTransport } = await import("@connectrpc/connect-web");
    return createClient(bench(), createConnectTransport({ baseUrl: `http://127.0.0.1:${port}`, useBinaryFormat: true })).get;
  },
  async "connect-http2"() {
    const { createClient } = await import("@connectrpc/connect");
    const { createConnectTransport } = await import("@connectrpc/connect-node");
    return createClient(bench(), createConnectTransport({ baseUrl: `http://127.0.0.1:${port}`, httpVersion: "2" })).get;
  },
  async "socket.io"() {
    const { io } = await import("socket.io-client");
    const socket = io(`http://127.0.0.1:${port}`, { transports: ["websocket"] });
    return (time) => socket.emitWithAck("get", time);
  },
  async trpc() {
    const { createTRPCClient, createWSClient, wsLink } = await import("@trpc/client");
    const { WebSocket } = await import("ws");
    const client = createTRPCClient({ links: [wsLink({ client: createWSClient({ url: `ws://127.0.0.1:${port}`, WebSocket }) })] });
    return (time) => client.get.query(time);
  },
};

const call = await CLIENTS[name]();
const run = (calls) => Promise.all(Array.from({ length: callers }, async () => {
  for (let at = 0; at < calls; at++) await call({ millis: at });
}));
await run(Math.ceil(calls / 4));
const begun = performance.now();
const before = process.cpuUsage();
await run(calls);
const { user, system } = process.cpuUsage(before);
const count = callers * calls;
console.log(JSON.stringify({ rate: Math.round((count * 1000) / (performance.now() - begun)), cpu: (user + system) / count }));
process.exit();
