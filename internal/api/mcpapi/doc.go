// Package mcpapi is the MCP server: what an agent's client is told there is, and how a call of it becomes one of the HTTP API. It is
// built on the public client, so who may do what, what is recorded and what is bounded is decided in one place, whichever
// door an agent comes through. It runs within the server, at /mcp, for every principal; and in a process of its own on
// standard input and output, for one.
//
// Invariants:
//   - Who acts is the token's principal. No argument of any tool names the caller.
//   - There are at most 16 tools; names, descriptions and input schemas together have at most 4,000 tokens.
//   - What a tool does not know is refused, with what it does know; so is JSON that says two things at once.
//   - Every principal has a server of its own: nothing is cached or notified across principals.
//
// Start reading at [New], then tool.go for what a tool is; a tool is in the file of its name, or in take.go, hold.go,
// look.go and know.go. What a handle of the Tasks extension stands for is in record.go. What there is
// besides tools is in showcase; who comes over HTTP, and in which session, is in door.
package mcpapi
