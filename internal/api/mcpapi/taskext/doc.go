// Package taskext implements the Tasks extension of MCP (io.modelcontextprotocol/tasks, for protocol 2026-07-28): a tool call whose result
// comes later returns a handle at once, and the client asks for the result with the handle.
//
// A tool calls [Later] instead of waiting, and the middleware of [Install] replaces its result with the handle. A [Source] resolves
// handles. The Source of Trapeze is the record, so that nothing is lost if the server stops between the handle and the result.
//
// Invariants:
//   - Only a request that declares the extension gets a handle or may use one: others are told which capability they lack.
//   - A handle is returned only when the Source can read its task.
//   - A task ends with the result that the call would have returned: a tool error is a completed task; "failed" is for protocol errors.
//   - A task here is one of the extension, not of Trapeze. Cancelling or answering one that has ended changes nothing and is not an error.
//   - Notifications are hints, sent until the task has ended: the authority is the task, when read.
//
// Where to change what:
//   - task.go: the states of a handle, and the version of the protocol; install.go: the methods, and who may call them; call.go: which results come
//     later
//   - listen.go: how many handles one stream follows; handler.go, stdio.go: streams over HTTP and over one connection; wire.go: the JSON
//
// Start reading at [Source], then [Install] and [Later]. listen.go has the notification streams, which [Handler] serves over HTTP and
// [Transport] over the transport of one client.
package taskext
