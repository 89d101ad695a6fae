module example.test/conformance

go 1.24.0

require (
	github.com/loopholelabs/polyglot/v2 v2.0.5
	google.golang.org/protobuf v1.36.12
)
