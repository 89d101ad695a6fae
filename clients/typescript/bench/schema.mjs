// The method that all candidates call. It returns the request, which is a message with one number.
import { create, createFileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

export const PROTO = 'syntax = "proto3"; package bench; message Time { uint32 millis = 1; } service Bench { rpc Get(Time) returns (Time); }';

/** Returns the service as generated code for Connect would declare it. */
export function bench() {
  const file = create(FileDescriptorProtoSchema, {
    name: "bench.proto",
    package: "bench",
    syntax: "proto3",
    messageType: [{ name: "Time", field: [{ name: "millis", number: 1, label: 1, type: 13, jsonName: "millis" }] }],
    service: [{ name: "Bench", method: [{ name: "Get", inputType: ".bench.Time", outputType: ".bench.Time" }] }],
  });
  return createFileRegistry(file, () => undefined).getService("bench.Bench");
}
