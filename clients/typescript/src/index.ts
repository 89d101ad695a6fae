/** frpc for browsers and Node. Generated code imports this module as `$`. */

export { Malformed } from "./bytes.js";
export { Channel, type CallOptions, type ChannelOptions } from "./channel.js";
export { decode, encode, message, type Bytes, type Enum, type Init, type Type, type UnknownValue } from "./codec.js";
export type { Dial, Transport, TransportEvents } from "./link.js";
export { mount, type Protocol, type Send } from "./mount.js";
export {
  service, type AnyService, type ClientStreaming, type Handlers, type Method, type ServerCall, type ServerStreaming,
  type Service, type Source, type TwoWay, type Unary,
} from "./service.js";
export { Code, Status, type Metadata, type StatusOptions } from "./status.js";
export type { Replies } from "./stream.js";
export { serve } from "./serve.js";
export { Topics, type Position, type Published, type SubscribeOptions, type Subscription } from "./topics.js";
export { SUBPROTOCOL, connect, webSocket, type WebSocketLike, type WebSocketOptions } from "./websocket.js";
