// Package trapeze is the root of the repository and holds no code of its own: only the test of the architecture
// ([arch_test.go]: which packages there are, what each imports, how large each may grow), from which part of
// docs/architecture.md is generated.
//
// Trapeze is a handoff server for AI agents: an agent gives up a task only when the next one has accepted it, and
// every change is an entry in a record that cannot be rewritten. Users' programs import the client package; the
// program itself is cmd/trapeze.
//
// Start reading at docs/architecture.md, then internal/domain/handoff.
//
// [arch_test.go]: https://github.com/trapezehq/trapeze/blob/main/arch_test.go
package trapeze

//go:generate go test -count=1 -run ^TestArchitecturePageShowsTheTable$ . -update
