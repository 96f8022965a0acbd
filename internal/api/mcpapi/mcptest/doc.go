// Package mcptest has the fixtures that the MCP conformance suite needs on a server: tools, resources, prompts and tasks that answer as
// its scenarios require. They are added to a server of the production code, so that the suite tests the production code. Only tests
// use it.
//
// Invariants:
//   - A fixture never corrects the production code or the SDK: there is no HTTP handler here, and the middleware answers only for the
//     names of fixtures.
//   - A fixture behaves as its scenario says, with and without sessions.
//
// Where to change what:
//   - add.go: which fixtures there are; tools.go, resources.go, form.go, asking.go, jobs.go: those of tools, resources, questions and tasks
//   - memory.go: the tasks
//
// Start reading at [Add]; [Memory] holds the tasks.
package mcptest
