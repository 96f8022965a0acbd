// Package tasks is the Tasks extension of MCP (io.modelcontextprotocol/tasks, for protocol 2026-07-28): a tool call whose
// result comes later answers with a handle at once, and the client asks for the rest by it.
//
// A tool says [Later] instead of waiting, and the middleware that [Install] adds turns its answer into the handle. What a
// handle stands for is the business of a [Source]: Trapeze's is the record, so that a server that dies between the handle
// and the result loses nothing.
//
// Invariants:
//   - Only a request that declares the extension is given a handle, or may use one: others are told what they lack.
//   - A handle is given once its task can be read: what Source does not know is not promised.
//   - A task's end is told as the call's own result would have been: a tool's error is a completed task, and "failed" is
//     for errors of the protocol.
//   - Cancelling or answering what is over changes nothing and is no error.
//   - Notifications are hints, and told to whoever asked for them until the task has ended: what counts is the task, when read.
//
// Start reading at [Source], then [Install] and [Later]. Streams of notifications are in listen.go, which [Handler] serves over
// HTTP and [Transport] on the transport of one client.
package tasks
