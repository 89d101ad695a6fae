// Package rpc implements both sides of calls and streams with packets, like the
// generated code of fRPC.
//
// It is responsible for ids, for matching replies with calls, for the start and
// the end of streams, and for errors. It does not import frisbee: a Transport
// connects it to one version.
package rpc

import (
	"errors"
	"fmt"
	"net"
)

// Transport is a version of frisbee.
type Transport interface {
	// Dial connects. It passes every packet with one of the operations to onReply,
	// one at a time.
	Dial(addr string, operations []uint16, onReply func(operation, id uint16, content []byte)) (Conn, error)

	// Serve serves until the listener is closed. At most concurrency calls of a
	// connection run at the same time; 0 means any number.
	Serve(listener net.Listener, concurrency uint64, operations []uint16, handler Handler) error
}

// Handler handles the packets of a server's connections.
type Handler interface {
	// ServeCall returns the content of the reply. It returns false if there is no
	// reply.
	ServeCall(operation uint16, content []byte) (reply []byte, answered bool)

	// ServeStream serves one stream that the client has opened.
	ServeStream(stream Stream)
}

// Conn is the client's end of a connection.
type Conn interface {
	Send(operation, id uint16, content []byte) error
	OpenStream(id uint16) Stream
	// Done is closed when the connection is closed.
	Done() <-chan struct{}
	Close() error
}

// Stream is an end of a stream, which transfers packets with content in order.
type Stream interface {
	Send(content []byte) error
	Receive() ([]byte, error)
	// Close sends a packet without content, which ends both directions.
	Close() error
}

// ErrConnClosed is the error of calls whose connection was closed.
var ErrConnClosed = errors.New("the connection is closed")

// RemoteError is an error that the peer sent in place of a message.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return fmt.Sprintf("error from the peer: %q", e.Text) }

// endText is the text of the error that ends one direction of a stream.
const endText = "EOF"
