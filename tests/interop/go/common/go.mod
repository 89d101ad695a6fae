module example.test/interop/common

go 1.24.0

require github.com/loopholelabs/polyglot/v2 v2.0.5
