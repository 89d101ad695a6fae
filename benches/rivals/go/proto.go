package main

// This file encodes the only message of the schema, a string in field 1, as
// protobuf.

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

const tagMessage = 1<<3 | 2

func sizeOfMessage(text string) int {
	if text == "" {
		return 0
	}
	return 1 + (bits.Len64(uint64(len(text)))+6)/7 + len(text)
}

func appendMessage(to []byte, text string) []byte {
	if text == "" {
		return to
	}
	to = append(to, tagMessage)
	to = binary.AppendUvarint(to, uint64(len(text)))
	return append(to, text...)
}

func parseMessage(from []byte) (string, error) {
	if len(from) == 0 {
		return "", nil
	}
	length, size := binary.Uvarint(from[1:])
	if from[0] != tagMessage || size <= 0 || uint64(len(from)-1-size) != length {
		return "", errors.New("not a message of the schema")
	}
	return string(from[1+size:]), nil
}
