// Package stdio runs one agent's MCP session on standard input and output: every line is a message, and the agent is present as long as
// its client runs.
//
// Invariants:
//   - The session acts as its agent, or does not start.
//   - Nothing but messages of the protocol is written to the output.
//   - No line ends the session: a line that is not a message is answered with an error. A line that is too long is not kept in memory.
//   - The answers to a batch are written in one line. Batches exist in older versions of the protocol, and are refused in the others.
//   - During the session its agent is present, and the leases of the tasks that the session accepted or worked on are renewed. After the
//     session, however it ends, the leases expire.
//   - The session ends within a second of its input, or of a signal. Calls that still wait are answered before.
//
// Where to change what:
//   - run.go: how long a session waits at its end, and how long a call is repeated while the server does not answer; transport.go: how many calls are open at once
//   - heartbeat.go: how often the agent shows that it is alive, and for which tasks
//   - batch.go: which versions have batches; message.go: which lines are refused; the longest is that of transport/handler.go
//
// Start reading at [Run], then transport.go with batch.go, and heartbeat.go.
package stdio
