module example.test/interop/peer

go 1.24.0

require (
	example.test/interop/common v0.0.0
	github.com/loopholelabs/frisbee-go v0.11.0
	github.com/loopholelabs/polyglot/v2 v2.0.5
)

require (
	github.com/loopholelabs/common v0.4.10 // indirect
	github.com/loopholelabs/logging v0.3.1 // indirect
)

replace example.test/interop/common => ./common
