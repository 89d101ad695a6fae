package frames

// This file replays the scripts over a socket, against either end.

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"testing"
	"time"

	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

// Header describes a version of the frame header.
type Header struct {
	// Size is 10 with the magic number and 8 without it.
	Size int
}

// capturedSize is the size of the headers in the scripts.
const capturedSize = 10

const timeout = 5 * time.Second

// CheckClient runs the client of the transport against the captured server.
func CheckClient(t *testing.T, transport rpc.Transport, header Header) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			listener := listen(t)
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			driven := make(chan error, 1)
			go func() {
				c, err := service.Dial(transport, listener.Addr().String())
				if err != nil {
					driven <- err
					return
				}
				defer c.Close()
				driven <- s.drive(ctx, c)
				<-ctx.Done()
			}()
			conn, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			// Kept open until the client has finished. frisbee-go may lose a reply that
			// arrives just before the end of a connection.
			defer conn.Close()
			replay(t, conn, header, s.frames, true)
			if err := <-driven; err != nil {
				t.Error(err)
			}
		})
	}
}

// CheckServer runs the server of the transport against the captured client.
func CheckServer(t *testing.T, transport rpc.Transport, header Header) {
	listener := listen(t)
	go func() { _ = transport.Serve(listener, 0, service.UnaryOperations, service.NewServer()) }()
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			replay(t, conn, header, s.frames, false)
		})
	}
}

func listen(t *testing.T) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// replay reads the frames of one side, which must equal the captured ones, and
// writes the frames of the other side.
func replay(t *testing.T, conn net.Conn, header Header, frames []frame, readClient bool) {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(timeout))
	for i, f := range frames {
		want, err := hex.DecodeString(f.hex)
		if err != nil {
			t.Fatal(err)
		}
		want = want[capturedSize-header.Size:]
		if f.fromClient != readClient {
			if _, err := conn.Write(want); err != nil {
				t.Fatalf("frame %d: %v", i+1, err)
			}
			continue
		}
		got, err := readFrame(conn, header)
		if err != nil {
			t.Fatalf("frame %d: %v", i+1, err)
		}
		if hex.EncodeToString(got) != hex.EncodeToString(want) {
			t.Fatalf("frame %d\n got %x\nwant %x", i+1, got, want)
		}
	}
}

// readFrame reads the next frame that is neither PING nor PONG.
func readFrame(conn io.Reader, header Header) ([]byte, error) {
	for {
		head := make([]byte, header.Size)
		if _, err := io.ReadFull(conn, head); err != nil {
			return nil, err
		}
		content := make([]byte, binary.BigEndian.Uint32(head[header.Size-4:]))
		if _, err := io.ReadFull(conn, content); err != nil {
			return nil, err
		}
		if operation := binary.BigEndian.Uint16(head[header.Size-6:]); operation > 1 {
			return append(head, content...), nil
		}
	}
}
