// Package suite contains the test cases of the client. They call a server of
// interop.proto and check its behavior.
//
// It is responsible for the cases, and for running and reporting them. Each
// case has its own connection and its own time limit, so no case can block the
// suite.
package suite

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

// Case is a named test case.
type Case struct {
	Name string
	// Small is set for the cases of the small suite.
	Small bool

	background bool // spends its time waiting, so it runs beside the others
	limit      time.Duration
	run        func(ctx context.Context, dial dialer) error
}

// dialer opens another connection, which is closed at the end of the case.
type dialer func() (*service.Client, error)

// body is a case that needs only one connection.
type body func(ctx context.Context, c *service.Client) error

// All returns all cases in order.
func All() []Case {
	return slices.Concat(
		unaryCases, scalarCases, nestedCases, listCases, mapCases, mixedCases, nilCases, errorCases, contentCases,
		payloadCases, sleepCases, idCases, streamCases, streamErrorCases, chatCases, manyStreamCases, connectionCases,
		loadCases, silenceCases,
	)
}

func small(name string, b body) Case {
	c := full(name, b)
	c.Small = true
	return c
}

func full(name string, b body) Case {
	return Case{Name: name, run: func(ctx context.Context, dial dialer) error {
		c, err := dial()
		if err != nil {
			return err
		}
		return b(ctx, c)
	}}
}

func (c Case) inBackground() Case {
	c.background = true
	return c
}

func (c Case) within(limit time.Duration) Case {
	c.limit = limit
	return c
}

// connections contains the connections that a case has opened.
type connections struct {
	transport rpc.Transport
	addr      string

	mu   sync.Mutex
	open []*service.Client
}

func (s *connections) dial() (*service.Client, error) {
	c, err := service.Dial(s.transport, s.addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, c)
	return c, nil
}

func (s *connections) strays() (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		count += c.Strays()
	}
	return count
}

func (s *connections) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		c.Close()
	}
}
