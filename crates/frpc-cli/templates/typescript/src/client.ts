// The client: `npm start -- [PORT]` calls the server of `cargo run`.

import { connect } from "frisbee-rpc/node";
import { GreeterClient } from "./generated/greet.js";

const channel = connect({ port: Number(process.argv[2] ?? 8080) });
const greeter = new GreeterClient(channel);
const { text } = await greeter.greet({ name: "Ada" });
console.log(text);
for await (const verse of greeter.recite({ name: "Ada" })) console.log(verse.text);
channel.close();
