// Command conformance converts messages of any schema from protobuf to Polyglot and JSON.
//
// Its argument is the path of a FileDescriptorSet. Standard input contains, for each message, its full name, its
// protobuf bytes, and the JSON of another program, or nothing. Standard output contains the Polyglot bytes, the JSON of
// this program, and a text that describes differences between the two programs. Each item is preceded by its length in
// four bytes, big endian.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: conformance <file descriptor set>")
	}
	content, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(content, &set); err != nil {
		return err
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return err
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		name, err := readPart(in)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		body, err := readPart(in)
		if err != nil {
			return err
		}
		found, err := files.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		descriptor, ok := found.(protoreflect.MessageDescriptor)
		if !ok {
			return fmt.Errorf("%s is no message", name)
		}
		message := dynamicpb.NewMessage(descriptor)
		if err := proto.Unmarshal(body, message); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		other, err := readPart(in)
		if err != nil {
			return err
		}
		own, difference := compare(message, other, dynamicpb.NewTypes(files))
		for _, part := range [][]byte{encode(message), own, []byte(difference)} {
			if err := binary.Write(out, binary.BigEndian, uint32(len(part))); err != nil {
				return err
			}
			if _, err := out.Write(part); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func readPart(in io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	part := make([]byte, length)
	_, err := io.ReadFull(in, part)
	return part, err
}
