// Package extratool has the extra tools of the MCP server, which the tool set "all" has besides those of the default set: what operators and few agents need.
//
// Invariants:
//   - A tool here needs nothing of the server but the client of the API and the call.
//   - The set all in package toolset names every tool of [Tools].
//
// Where to change what:
//   - each tool is in the file of its name (the tool dead in dead_letters.go), and tools.go lists them; do.go: requests in plain English, which package phrases understands; artifact.go: how much of a
//     file one answer has
//
// Start reading at [Tools].
package extratool
