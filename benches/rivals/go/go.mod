module example.test/benches/compare

go 1.26.0

require (
	github.com/loopholelabs/frisbee-go v0.11.0
	github.com/loopholelabs/polyglot/v2 v2.0.5
	google.golang.org/grpc v1.85.0
)

require (
	github.com/loopholelabs/common v0.4.10 // indirect
	github.com/loopholelabs/logging v0.3.1 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
