// Package mcpapi is the MCP server: it describes the tools, resources and prompts to an agent's client and executes their calls as
// calls of the HTTP API. It is built on the public client, so that authorization, recording and limits are decided in one place. It
// runs in the server at /mcp, for every principal, and in its own process on standard input and output, for one.
//
// Invariants:
//   - The caller is the principal of the token. No argument of any tool names the caller.
//   - The default set has at most 16 tools; their names, descriptions and input schemas together have at most 4,000 tokens.
//   - An unknown argument is refused, with the list of known ones; so is ambiguous JSON.
//   - Every principal has its own server: nothing is cached or notified across principals.
//
// Where to change what:
//   - server.go: what a model is told once, before any tool; which tools each set has is in toolset/toolset.go, the text of a tool in its own file. A tool
//     only calls the API: what no route does yet begins in package domain/handoff
//   - inbox.go: how long any call may wait (inbox, status, ask), which tool answers each item, and the limit that it passes on: a bound of this tool begins there. How
//     many items an answer has if no limit is given is decided for every API in usecase/tasks/inbox.go; how many of these fit the reader, in fit/offered.go; where a call waits (waits, and transport/wait.go); join.go: what joining registers
//   - accept.go: what a new owner is given, also when it calls again because the first answer was lost
//   - decide.go: which verdicts an item takes; ask.go, person.go: when the user of the client is asked, and how
//   - send.go: the arguments that every client sees: of the handoff, and of a new task (priority, deadline, conversation, tags)
//   - send_fully.go: those of the set "all" alone: timeouts (ack_timeout and others), retries, strategy, pins, limits, budgets, permissions, route, dependencies
//   - recall.go, remember.go: the search of memory items, and a new one
//   - status.go, ticket.go: how many rows one answer lists; tool/next.go: what a tool says to do next
//   - refused/refused.go: hints of the server in the names of tools
//   - handles.go, delegation.go: which calls answer with a handle of the Tasks extension, and when such a handle is completed
//   - presented.go: which tools and prompts a client sees; the greatest message over HTTP, sessions and streams are limited in transport/handler.go
//   - tool/wait.go: waits for a ticket or a task, also while the server restarts; liveness/liveness.go: how such a call ends, or goes on, when the
//     server stops
//   - The size of an answer is decided in fit/reader.go; its texts are in package show.
//
// Start reading at [New], then tool.go for what a tool is; each tool is in the file of its name, and what several
// tools return of a noun is in the package show. The handles of the Tasks extension
// are in handles.go. Resources, prompts and completion are in the package resource; HTTP and sessions are in the package transport.
package mcpapi
