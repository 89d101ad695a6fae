package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// compare returns the JSON of a message, or nothing if it has none. It also returns how the JSON of another program
// differs.
func compare(message *dynamicpb.Message, other []byte, types *dynamicpb.Types) (own []byte, difference string) {
	own, err := protojson.MarshalOptions{Resolver: types}.Marshal(message)
	if err != nil {
		if len(other) == 0 {
			return nil, ""
		}
		return nil, fmt.Sprintf("%v, and the other wrote %s", err, other)
	}
	if len(other) == 0 {
		return own, fmt.Sprintf("the other wrote nothing, and not %s", own)
	}
	// Both texts are decoded, because a NaN has many binary forms but only one in JSON.
	var bytes [2][]byte
	for i, json := range [][]byte{own, other} {
		read := message.New().Interface()
		if err := (protojson.UnmarshalOptions{Resolver: types}).Unmarshal(json, read); err != nil {
			return own, fmt.Sprintf("%v: %s", err, json)
		}
		if bytes[i], err = (proto.MarshalOptions{Deterministic: true}).Marshal(read); err != nil {
			return own, err.Error()
		}
	}
	if string(bytes[0]) != string(bytes[1]) {
		return own, fmt.Sprintf("the other wrote %s, and not %s", other, own)
	}
	return own, ""
}
