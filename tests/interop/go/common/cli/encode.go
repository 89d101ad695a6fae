package cli

// This file contains the encoder, which decodes and encodes messages.

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"example.test/interop/common/messages"
)

// encode reads lines of the form MESSAGE_NAME<TAB>HEX. For each line, it prints
// the hexadecimal digits of the message after decoding and encoding it, or
// "error: " and a text.
func encode(stdin io.Reader, stdout, stderr io.Writer) int {
	in := bufio.NewReader(stdin)
	for {
		line, err := in.ReadString('\n')
		if err == nil || line != "" {
			fmt.Fprintln(stdout, answer(strings.TrimRight(line, "\r\n")))
		}
		if err == io.EOF {
			return 0
		}
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
}

func answer(line string) string {
	again, err := encodeAgain(line)
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return hex.EncodeToString(again)
}

func encodeAgain(line string) (again []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			again, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	name, digits, found := strings.Cut(line, "\t")
	if !found {
		return nil, fmt.Errorf("%q has no tab", line)
	}
	m, known := messages.New(name)
	if !known {
		return nil, fmt.Errorf("no message is called %q", name)
	}
	content, err := hex.DecodeString(digits)
	if err != nil {
		return nil, err
	}
	if err := messages.Unmarshal(content, m); err != nil {
		return nil, err
	}
	return messages.Marshal(m), nil
}
