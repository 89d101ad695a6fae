/** The server that the page is connected to, and the services that it reports. */

import { Channel, Code, Status, Topics, webSocket, type Dial, type Metadata } from "frisbee-rpc";
import { Schema, cleanComment } from "./descriptor.js";
import { Tables, callables, type Callable } from "./dynamic.js";
import { Codec, Idempotency, Reflection, type Service } from "./generated/frpc.reflection.v1.js";

/** Maximum size of a schema in bytes. */
const SCHEMA_MAX = 32 << 20;

export interface MethodInfo {
  readonly service: ServiceInfo;
  readonly name: string;
  readonly operation: number;
  readonly request: string;
  readonly response: string;
  readonly sends: boolean;
  readonly receives: boolean;
  readonly idempotency: "" | "idempotent" | "no side effects";
  readonly formats: readonly string[];
  readonly docs: string;
  readonly isDeprecated: boolean;
  /** Returns what is needed to call the method. Throws the reason if the method cannot be called. */
  callable(): Callable;
}

export interface ServiceInfo {
  readonly name: string;
  readonly fingerprint: string;
  readonly file: string;
  readonly docs: string;
  readonly isDeprecated: boolean;
  readonly methods: readonly MethodInfo[];
}

/** Services and schema that a server reports. */
export interface Catalog {
  readonly etag: string;
  readonly schema: Schema;
  readonly services: readonly ServiceInfo[];
}

/** `package.Service/Method`. */
export const pathOf = (method: MethodInfo): string => `${method.service.name}/${method.name}`;

/** State of the connection to the server. */
export type Wire = "connecting" | "open" | "lost";

export class Server {
  readonly channel: Channel;
  readonly topics: Topics;
  /** Metadata that is added to every call. */
  metadata: Metadata = {};
  wire: Wire = "connecting";
  /** Time of the last connect, number of connects, and bytes transferred. */
  readonly traffic = { since: 0, connections: 0, sent: 0, received: 0 };

  constructor(readonly url: string, changed: () => void) {
    const dial = webSocket(url);
    const setWire = (wire: Wire): void => {
      this.wire = wire;
      changed();
    };
    const watched: Dial = (events) => {
      const transport = dial({
        open: () => {
          this.traffic.since = Date.now();
          this.traffic.connections++;
          events.open();
          setWire("open");
        },
        data: (bytes) => {
          this.traffic.received += bytes.length;
          events.data(bytes);
        },
        close: (reason) => {
          setWire("lost");
          events.close(reason);
        },
      });
      return { ...transport, send: (bytes) => {
        this.traffic.sent += bytes.length;
        transport.send(bytes);
      } };
    };
    this.channel = new Channel(watched, { stayConnected: true });
    this.channel.name(Reflection);
    this.topics = new Topics(this.channel);
  }

  /** Requests the services and their schema. Returns `undefined` if they equal `known`. */
  async catalog(known?: Catalog): Promise<Catalog | undefined> {
    const { channel, metadata } = this;
    const listed = new Map<string, Service>();
    let etag = "";
    for await (const piece of channel.serverStreaming(Reflection, Reflection.methods.list, { etag: known?.etag ?? "" }, { metadata })) {
      if (piece.notModified) return undefined;
      etag ||= piece.etag;
      for (const service of piece.services) {
        const before = listed.get(service.name);
        if (before) before.methods.push(...service.methods);
        else listed.set(service.name, service);
      }
    }
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const { data } of channel.serverStreaming(Reflection, Reflection.methods.files, {}, { metadata })) {
      parts.push(data);
      length += data.length;
      if (length > SCHEMA_MAX) throw new Status(Code.RESOURCE_EXHAUSTED, `the schema has more than ${SCHEMA_MAX} bytes`);
    }
    const set = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      set.set(part, at);
      at += part.length;
    }
    const schema = new Schema(set);
    const tables = new Tables(schema);
    return { etag, schema, services: [...listed.values()].map((service) => describe(service, tables)) };
  }

  /** Returns whether the server has a broker. */
  async hasBroker(): Promise<boolean> {
    return this.topics.sync().then(() => true, () => false);
  }
}

function describe(listed: Service, tables: Tables): ServiceInfo {
  let made: readonly Callable[] | undefined;
  const callable = (at: number): Callable => {
    if (listed.codec !== Codec.POLYGLOT) throw new Error("its messages use the protobuf codec, which this page does not support");
    if (!listed.file) throw new Error("the server does not have the schema of this service; build it with `reflection(true)`");
    made ??= callables(tables, listed.name, listed.fingerprint, listed.methods.map((method) => ({
      ...method,
      sends: method.requestStreams,
      receives: method.responseStreams,
      isIdempotent: method.idempotency !== Idempotency.UNKNOWN,
    })));
    return made[at] as Callable;
  };
  const service: { -readonly [K in keyof ServiceInfo]: ServiceInfo[K] } = {
    name: listed.name,
    fingerprint: listed.fingerprint,
    file: listed.file,
    docs: cleanComment(listed.docs),
    isDeprecated: listed.isDeprecated,
    methods: [],
  };
  service.methods = listed.methods.map((method, at): MethodInfo => ({
    service,
    name: method.name,
    operation: method.operation,
    request: method.request,
    response: method.response,
    sends: method.requestStreams,
    receives: method.responseStreams,
    idempotency: method.idempotency === Idempotency.NO_SIDE_EFFECTS ? "no side effects" : method.idempotency === Idempotency.IDEMPOTENT ? "idempotent" : "",
    formats: method.formats,
    docs: cleanComment(method.docs),
    isDeprecated: method.isDeprecated,
    callable: () => callable(at),
  }));
  return service;
}

/** Returns the name of a status code. */
export const codeName = (code: number): string => Object.entries(Code).find(([, number]) => number === code)?.[0] ?? String(code);
