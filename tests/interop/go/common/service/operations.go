// Package service contains the service Interop: its operations, a server that
// behaves as the comments of interop.proto specify, and a typed client.
package service

// The operations. They are numbered from 10 in the order of the schema.
const (
	EchoScalars uint16 = iota + 10
	EchoNested
	EchoLists
	EchoMaps
	EchoMixed
	DoNothing
	Fail
	EchoPayload
	Add
	Sleep
	Describe
	CountUp
	SumUp
	Chat
)

// UnaryOperations are the operations that are not streams.
var UnaryOperations = []uint16{
	EchoScalars, EchoNested, EchoLists, EchoMaps, EchoMixed, DoNothing, Fail, EchoPayload, Add, Sleep, Describe,
}
