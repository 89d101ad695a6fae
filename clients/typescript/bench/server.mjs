// Runs the server of a candidate in its own process, and prints its port: `node server.mjs NAME`.
import { createServer } from "node:http";
import { bench } from "./schema.mjs";

const listening = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

const SERVERS = {
  async "grpc-js"() {
    const { Server, ServerCredentials, loadPackageDefinition } = await import("@grpc/grpc-js");
    const { bench } = loadPackageDefinition((await import("./grpc.mjs")).definition());
    const server = new Server();
    server.addService(bench.Bench.service, { Get: (call, done) => done(null, call.request) });
    return new Promise((resolve, reject) => server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port))));
  },
  async connect() {
    const { connectNodeAdapter } = await import("@connectrpc/connect-node");
    return listening(createServer(connectNodeAdapter({ routes: (router) => router.service(bench(), { get: (time) => time }) })));
  },
  async "connect-http2"() {
    const { connectNodeAdapter } = await import("@connectrpc/connect-node");
    const { createServer: createHttp2 } = await import("node:http2");
    return listening(createHttp2(connectNodeAdapter({ routes: (router) => router.service(bench(), { get: (time) => time }) })));
  },
  async "socket.io"() {
    const { Server } = await import("socket.io");
    const http = createServer();
    new Server(http).on("connection", (socket) => socket.on("get", (time, answer) => answer(time)));
    return listening(http);
  },
  async trpc() {
    const { initTRPC } = await import("@trpc/server");
    const { applyWSSHandler } = await import("@trpc/server/adapters/ws");
    const { WebSocketServer } = await import("ws");
    const { router, procedure } = initTRPC.create();
    const wss = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    applyWSSHandler({ wss, router: router({ get: procedure.input((time) => time).query(({ input }) => input) }) });
    await new Promise((resolve) => wss.once("listening", resolve));
    return wss.address().port;
  },
};
console.log(await SERVERS[process.argv[2]]());
process.stdin.on("end", () => process.exit()).resume();
