package transport

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"example.test/interop/common/frames"
	"example.test/interop/common/service"
	"example.test/interop/common/suite"
)

var header = frames.Header{Size: 8}

func TestClientSendsTheCapturedFrames(t *testing.T) { frames.CheckClient(t, Frisbee{}, header) }

func TestServerSendsTheCapturedFrames(t *testing.T) { frames.CheckServer(t, Frisbee{}, header) }

func TestSuiteAgainstItsOwnServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { _ = Frisbee{}.Serve(listener, 0, service.UnaryOperations, service.NewServer()) }()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	if suite.Run(ctx, suite.All(), Frisbee{}, listener.Addr().String(), &out) > 0 {
		t.Error(out.String())
	}
}
