package main

// This file makes the calls: it connects, warms up, counts calls for the given
// time, and prints the results.

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The phases of a run.
const (
	warmUp int32 = iota
	window
	ending
)

// load contains the parameters and the state of a run.
type load struct {
	address            *string
	clients, inFlight  *int
	length             *int
	warmUpMs, windowMs *int
	reconnect          *bool

	phase     atomic.Int32
	every     int
	latencies histogram
	failure   atomic.Pointer[error]
}

// outcome contains the results that the Rust program reads.
type outcome struct {
	Calls   uint64  `json:"calls"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p999_us"`
	Max     float64 `json:"max_us"`
	Starved int     `json:"starved"`
	Stuck   int     `json:"stuck"`
}

func newLoad(flags *flag.FlagSet) *load {
	return &load{
		address:   flags.String("address", "", "the server"),
		clients:   flags.Int("clients", 1, "connections"),
		inFlight:  flags.Int("in-flight", 1, "calls at one time on each"),
		length:    flags.Int("length", 32, "bytes of a text"),
		warmUpMs:  flags.Int("warm-up-ms", 500, "before calls count"),
		windowMs:  flags.Int("window-ms", 1000, "while calls count"),
		reconnect: flags.Bool("reconnect", false, "a new connection for each call"),
	}
}

// patience is the maximum wait for calls in flight at the end of the window.
const patience = 5 * time.Second

func (l *load) run(chosen contestant) error {
	// With many callers, one call in eight is timed, like in the Rust
	// program.
	l.every = 8
	if *l.clients**l.inFlight < 16 {
		l.every = 1
	}
	connected, err := l.connect(chosen)
	if err != nil {
		return err
	}
	fmt.Println("ready")

	counted := make([]uint64, *l.clients)
	finished := make([]atomic.Int32, *l.clients)
	var running sync.WaitGroup
	for number := range *l.clients {
		for caller := range *l.inFlight {
			running.Add(1)
			go func() {
				defer running.Done()
				var calls uint64
				var err error
				if *l.reconnect {
					calls, err = l.callReconnecting(chosen, number)
				} else {
					calls, err = l.call(connected[number], number**l.inFlight+caller)
				}
				if err != nil {
					l.failure.Store(&err)
				}
				atomic.AddUint64(&counted[number], calls)
				finished[number].Add(1)
			}()
		}
	}
	seconds := l.phases()
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
	}
	if failure := l.failure.Load(); failure != nil {
		return *failure
	}
	return l.report(seconds, counted, finished)
}

// connect opens all connections, some at a time, because an overflowing backlog costs a second.
func (l *load) connect(chosen contestant) ([]client, error) {
	const atOneTime = 64
	connected := make([]client, *l.clients)
	if *l.reconnect {
		return connected, nil
	}
	failures := make([]error, *l.clients)
	for from := 0; from < len(connected); from += atOneTime {
		var connecting sync.WaitGroup
		for number := from; number < min(from+atOneTime, len(connected)); number++ {
			connecting.Add(1)
			go func() {
				defer connecting.Done()
				connected[number], failures[number] = chosen.connect(*l.address, *l.inFlight)
			}()
		}
		connecting.Wait()
	}
	return connected, errors.Join(failures...)
}

func (l *load) phases() float64 {
	time.Sleep(time.Duration(*l.warmUpMs) * time.Millisecond)
	l.phase.Store(window)
	begun := time.Now()
	fmt.Println("begin")
	time.Sleep(time.Duration(*l.windowMs) * time.Millisecond)
	l.phase.Store(ending)
	seconds := time.Since(begun).Seconds()
	fmt.Println("end")
	return seconds
}

// call makes calls sequentially.
func (l *load) call(c client, caller int) (uint64, error) {
	var counted uint64
	text := newText(caller, *l.length)
	for call := caller; l.phase.Load() != ending; call++ {
		timed := call%l.every == 0
		var begun time.Time
		if timed {
			begun = time.Now()
		}
		if err := checked(c, text.next()); err != nil {
			return counted, err
		}
		counted += l.ended(timed, begun)
	}
	return counted, nil
}

// callReconnecting repeatedly connects, makes one call and closes.
func (l *load) callReconnecting(chosen contestant, caller int) (uint64, error) {
	var counted uint64
	text := newText(caller, *l.length)
	for l.phase.Load() != ending {
		begun := time.Now()
		c, err := chosen.connect(*l.address, 1)
		if err != nil {
			return counted, err
		}
		if err := checked(c, text.next()); err != nil {
			return counted, err
		}
		c.close()
		counted += l.ended(true, begun)
	}
	return counted, nil
}

// ended records the end of a call, and returns how much the call counts.
func (l *load) ended(timed bool, begun time.Time) uint64 {
	phase := l.phase.Load()
	if timed && phase != warmUp {
		l.latencies.record(time.Since(begun))
	}
	if phase == window {
		return 1
	}
	return 0
}

func (l *load) report(seconds float64, counted []uint64, finished []atomic.Int32) error {
	result := outcome{
		Seconds: seconds,
		P50:     l.latencies.quantile(0.5),
		P99:     l.latencies.quantile(0.99),
		P999:    l.latencies.quantile(0.999),
		Max:     l.latencies.quantile(1),
	}
	for number := range counted {
		calls := atomic.LoadUint64(&counted[number])
		result.Calls += calls
		switch {
		case int(finished[number].Load()) < *l.inFlight:
			result.Stuck++
		case calls == 0:
			result.Starved++
		}
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return err
	}
	fmt.Printf("result %s\n", encoded)
	return nil
}

func checked(c client, text string) error {
	reply, err := c.echo(text)
	if err == nil && reply != text {
		err = errors.New("a reply differs from what was sent")
	}
	return err
}

// text creates texts that differ between callers and between calls: windows
// into a longer text, which advance with each call and copy nothing.
type text struct {
	longer string
	length int
	at     int
}

// way is the distance after which the window restarts.
const way = 64

func newText(caller, length int) *text {
	var longer strings.Builder
	for part := 0; longer.Len() < length+way; part++ {
		fmt.Fprintf(&longer, "%06d%c", caller, 'a'+part%26)
	}
	return &text{longer: longer.String(), length: length}
}

func (t *text) next() string {
	t.at = (t.at + 1) % way
	return t.longer[t.at : t.at+t.length]
}
