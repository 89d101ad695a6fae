package rpc

// This file has the server's side of calls and streams.

import (
	"errors"
	"io"

	"example.test/interop/common/messages"
)

// Server is a Handler that consists of a function for each method.
type Server struct {
	calls   map[uint16]callFunc
	streams map[uint16]streamFunc
}

type (
	callFunc   func(content []byte) (reply []byte, answered bool)
	streamFunc func(stream *ServerStream) error
)

// NewServer creates a server without methods.
func NewServer() *Server {
	return &Server{calls: make(map[uint16]callFunc), streams: make(map[uint16]streamFunc)}
}

// Unary adds a unary method. A request that cannot be decoded receives no
// reply.
func Unary[Req any, P messages.Pointer[Req], M messages.Message](s *Server, operation uint16, f func(P) (M, error)) {
	s.calls[operation] = func(content []byte) ([]byte, bool) {
		request := P(new(Req))
		if err := messages.Unmarshal(content, request); err != nil {
			return nil, false
		}
		reply, err := f(request)
		if err != nil {
			return messages.MarshalError(err.Error()), true
		}
		return messages.Marshal(reply), true
	}
}

// ServerStreaming adds a method that receives one message and sends many.
func ServerStreaming[Req any, P messages.Pointer[Req]](s *Server, operation uint16, f func(P, *ServerStream) error) {
	s.streams[operation] = func(stream *ServerStream) error {
		request := P(new(Req))
		if err := stream.Receive(request); err != nil {
			return err
		}
		return f(request, stream)
	}
}

// ClientStreaming adds a method that receives many messages and sends one. The
// end of the stream follows the reply, and again when the function returns.
func ClientStreaming[M messages.Message](s *Server, operation uint16, f func(*ServerStream) (M, error)) {
	s.streams[operation] = func(stream *ServerStream) error {
		reply, err := f(stream)
		if err != nil {
			return err
		}
		if err := stream.Send(reply); err != nil {
			return err
		}
		return stream.sendEnd()
	}
}

// BothWays adds a method that receives and sends many messages.
func BothWays(s *Server, operation uint16, f func(*ServerStream) error) {
	s.streams[operation] = f
}

// ServeCall implements Handler.
func (s *Server) ServeCall(operation uint16, content []byte) ([]byte, bool) {
	call := s.calls[operation]
	if call == nil {
		return nil, false
	}
	return call(content)
}

// ServeStream implements Handler. It ignores an unknown operation, and closes
// the stream if the first packet cannot be decoded.
func (s *Server) ServeStream(raw Stream) {
	content, err := raw.Receive()
	if err != nil {
		return
	}
	operation, err := messages.UnmarshalOpen(content)
	if err != nil {
		_ = raw.Close()
		return
	}
	serve := s.streams[operation]
	if serve == nil {
		return
	}
	stream := &ServerStream{raw: raw}
	if err := serve(stream); err != nil && !errors.Is(err, io.EOF) {
		_ = raw.Send(messages.MarshalError(err.Error()))
	}
	// If the stream is closed already, this has no effect.
	_ = stream.sendEnd()
}

// ServerStream is the server's end of a stream.
type ServerStream struct{ raw Stream }

// Send sends one message.
func (s *ServerStream) Send(m messages.Message) error {
	return s.raw.Send(messages.Marshal(m))
}

// Receive receives a message. It returns io.EOF at the end of the client's
// direction.
func (s *ServerStream) Receive(m messages.Message) error {
	content, err := s.raw.Receive()
	if err != nil {
		return err
	}
	return endOr(decodeInto(content, m))
}

func (s *ServerStream) sendEnd() error {
	return s.raw.Send(messages.MarshalError(endText))
}
