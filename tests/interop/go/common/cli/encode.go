package cli

// This file has the encoder: messages in, the same messages out.

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"example.test/interop/common/messages"
)

// encode answers each line MESSAGE_NAME<TAB>HEX with the hex of decoding and
// encoding it again, or with "error: " and a text.
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
