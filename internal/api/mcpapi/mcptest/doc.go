// Package mcptest is what the MCP conformance suite wants to find on a server: tools, resources, prompts and tasks that do
// nothing but answer as its scenarios say. They are put on a server that the production code has made, so that the suite
// judges the production code.
//
// Only tests use it.
//
// Invariants:
//   - Nothing here mends what the production code or the SDK does wrong: no handler of HTTP, and a middleware that answers for
//     the fixtures' own names only.
//   - A fixture behaves as the scenario that names it says, in both eras of the protocol.
//
// Start reading at [Add]; [Memory] holds the tasks.
package mcptest
