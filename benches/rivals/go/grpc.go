package main

// This file implements the echo call on grpc-go, with a handwritten codec and
// service description instead of generated ones.

import (
	"context"
	"net"
	"runtime"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

const (
	serviceName = "benchmark.BenchmarkService"
	fullMethod  = "/" + serviceName + "/Benchmark"

	streamWindow     = 4 << 20
	connectionWindow = 64 << 20
	socketBuffer     = 64 << 10
	messageMax       = 5 << 20
)

// message is the request and the reply.
type message struct{ text string }

// codec replaces the protobuf codec. Its buffers come from the pool.
type codec struct{}

func init() { encoding.RegisterCodecV2(codec{}) }

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	text := v.(*message).text
	pool := mem.DefaultBufferPool()
	buffer := pool.Get(sizeOfMessage(text))
	*buffer = appendMessage((*buffer)[:0], text)
	return mem.BufferSlice{mem.NewBuffer(buffer, pool)}, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	text, err := parseMessage(buffer.ReadOnlyData())
	v.(*message).text = text
	return err
}

type echoService interface {
	benchmark(ctx context.Context, request *message) (*message, error)
}

type grpcService struct{ sleep time.Duration }

func (s grpcService) benchmark(_ context.Context, request *message) (*message, error) {
	pause(s.sleep)
	return request, nil
}

var description = grpc.ServiceDesc{
	ServiceName: serviceName,
	HandlerType: (*echoService)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Benchmark",
		Handler: func(service any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			request := new(message)
			if err := decode(request); err != nil {
				return nil, err
			}
			return service.(echoService).benchmark(ctx, request)
		},
	}},
}

func serveGRPC(listener net.Listener, sleep time.Duration) error {
	options := []grpc.ServerOption{
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(connectionWindow),
		grpc.ReadBufferSize(socketBuffer),
		grpc.WriteBufferSize(socketBuffer),
		grpc.MaxRecvMsgSize(messageMax),
	}
	if defaults {
		options = nil
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&description, grpcService{sleep})
	return server.Serve(listener)
}

type grpcClient struct{ conn *grpc.ClientConn }

func connectGRPC(address string, _ int) (client, error) {
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(streamWindow),
		grpc.WithInitialConnWindowSize(connectionWindow),
		grpc.WithReadBufferSize(socketBuffer),
		grpc.WithWriteBufferSize(socketBuffer),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageMax)),
	)
	if err != nil {
		return nil, err
	}
	conn.Connect()
	return grpcClient{conn}, nil
}

func (c grpcClient) echo(text string) (string, error) {
	var reply message
	err := c.conn.Invoke(context.Background(), fullMethod, &message{text}, &reply)
	return reply.text, err
}

func (c grpcClient) close() { _ = c.conn.Close() }
