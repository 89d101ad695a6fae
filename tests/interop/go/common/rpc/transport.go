// Package rpc makes calls and streams out of packets, on either side, in the
// way the original's generated code does.
//
// It owns ids, the pairing of replies, the opening and the end of streams and
// errors. It does not import frisbee: a Transport binds it to one version.
package rpc

import (
	"errors"
	"fmt"
	"net"
)

// Transport is one version of frisbee.
type Transport interface {
	// Dial connects and hands every packet with one of the operations to
	// onReply, one at a time.
	Dial(addr string, operations []uint16, onReply func(operation, id uint16, content []byte)) (Conn, error)

	// Serve serves until the listener is closed. At most concurrency calls of
	// a connection run at once; 0 means any number.
	Serve(listener net.Listener, concurrency uint64, operations []uint16, handler Handler) error
}

// Handler is what a server does with the packets of its connections.
type Handler interface {
	// ServeCall returns the content of the reply, or false for no reply.
	ServeCall(operation uint16, content []byte) (reply []byte, answered bool)

	// ServeStream serves one stream that the client has opened.
	ServeStream(stream Stream)
}

// Conn is the client's end of a connection.
type Conn interface {
	Send(operation, id uint16, content []byte) error
	OpenStream(id uint16) Stream
	// Done is closed when the connection is.
	Done() <-chan struct{}
	Close() error
}

// Stream is one end of a stream: packets with content, in order.
type Stream interface {
	Send(content []byte) error
	Receive() ([]byte, error)
	// Close sends a packet without content: the end of both directions.
	Close() error
}

// ErrConnClosed ends the calls of a connection that has gone.
var ErrConnClosed = errors.New("the connection is closed")

// RemoteError is an error that the peer sent in the place of a message.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return fmt.Sprintf("error from the peer: %q", e.Text) }

// endText is the text of the error that ends one direction of a stream.
const endText = "EOF"
