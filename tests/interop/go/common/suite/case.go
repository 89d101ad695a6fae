// Package suite is the client suite: named cases that call a server of
// interop.proto and check what it does.
//
// It owns the cases and how they are run and reported. Each case has its own
// connection and its own time limit; none can hang the suite.
package suite

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

// Case is one named check.
type Case struct {
	Name string
	// Small says that the case is part of the small suite.
	Small bool

	background bool // spends its time waiting, so it runs beside the others
	limit      time.Duration
	run        func(ctx context.Context, dial dialer) error
}

// dialer opens one more connection, which is closed when the case is over.
type dialer func() (*service.Client, error)

// body is a case that needs just one connection.
type body func(ctx context.Context, c *service.Client) error

// All is every case, in order.
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

// connections are those that one case has opened.
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
