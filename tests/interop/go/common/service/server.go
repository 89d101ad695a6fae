package service

// This file contains the server with the implementation of each method.

import (
	"errors"
	"io"
	"time"

	"example.test/interop/common/messages"
	"example.test/interop/common/rpc"
)

// NewServer creates a server with all methods.
func NewServer() *rpc.Server {
	s := rpc.NewServer()
	rpc.Unary(s, EchoScalars, echo[*messages.Scalars])
	rpc.Unary(s, EchoNested, echo[*messages.Nested])
	rpc.Unary(s, EchoLists, echo[*messages.Lists])
	rpc.Unary(s, EchoMaps, echo[*messages.Maps])
	rpc.Unary(s, EchoMixed, echo[*messages.Mixed])
	rpc.Unary(s, DoNothing, doNothing)
	rpc.Unary(s, Fail, fail)
	rpc.Unary(s, EchoPayload, echo[*messages.Payload])
	rpc.Unary(s, Add, add)
	rpc.Unary(s, Sleep, sleep)
	rpc.Unary(s, Describe, describe)
	rpc.ServerStreaming(s, CountUp, countUp)
	rpc.ClientStreaming(s, SumUp, sumUp)
	rpc.BothWays(s, Chat, chat)
	return s
}

func echo[M messages.Message](m M) (M, error) { return m, nil }

func doNothing(*messages.Empty) (*messages.Empty, error) { return &messages.Empty{}, nil }

func fail(m *messages.Text) (*messages.Text, error) { return nil, errors.New(m.Value) }

func add(m *messages.AddRequest) (*messages.Sum, error) {
	return &messages.Sum{Total: m.A + m.B, Count: 2}, nil
}

func sleep(m *messages.SleepRequest) (*messages.SleepRequest, error) {
	time.Sleep(time.Duration(m.Millis) * time.Millisecond)
	return m, nil
}

func describe(m *messages.Scalars) (*messages.Text, error) {
	return &messages.Text{Value: Description(m)}, nil
}

func countUp(m *messages.Range, out *rpc.ServerStream) error {
	count := m.Count
	if count < 0 {
		count = 2
	}
	for i := range count {
		if err := out.Send(&messages.Count{Value: m.From + i}); err != nil {
			return err
		}
	}
	if m.Count < 0 {
		return errors.New("negative count")
	}
	return nil
}

func sumUp(in *rpc.ServerStream) (*messages.Sum, error) {
	sum := &messages.Sum{}
	for {
		var m messages.Count
		err := in.Receive(&m)
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return nil, err
		}
		sum.Total += m.Value
		sum.Count++
	}
}

func chat(s *rpc.ServerStream) error {
	for {
		var m messages.Text
		if err := s.Receive(&m); err != nil {
			return err
		}
		if err := s.Send(&messages.Text{Value: "re:" + m.Value}); err != nil {
			return err
		}
	}
}
