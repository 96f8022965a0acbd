// Package multiplex carries the calls of many agents in one program on one connection to the server. Several calls are then read
// and written by one system call, which saves about a sixth of the processor time of server and client. Give what [HTTP] returns to all of their clients:
//
//	shared := multiplex.HTTP(nil)
//	a, err := client.New(url, tokenA, client.Options{HTTP: shared})
//	b, err := client.New(url, tokenB, client.Options{HTTP: shared})
//
// Each call keeps its own token, deadline, idempotency key and answer; the server handles it as it handles any other. Calls whose bodies are large,
// artifacts, exports and streams of events have connections of their own, and so has everything if the server, or a proxy before it, does not
// change to this protocol. If the connection breaks, nobody knows whether the calls on it have happened: the client repeats them under the same keys.
//
// The protocol: a GET of /v1/calls with a token and "Upgrade: trapeze-calls/1" is answered with 101. Then both sides send frames: the length of a message and
// the number of its call, 32 bits each in network byte order, and the message. It is a request of HTTP/1.1 with its Content-Length, or the response to
// one, in any order. An empty message cancels the call, or tells that it was aborted without an answer.
//
// Start reading at [HTTP], then frames.go, which the server uses, too.
package multiplex
