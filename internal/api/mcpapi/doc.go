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
// Start reading at [New], then tool.go for what a tool is; each tool is in the file of its name, and what several
// tools return of a noun is in the package show. The handles of the Tasks extension
// are in handles.go. Resources, prompts and completion are in the package resource; HTTP and sessions are in the package transport.
package mcpapi
