// Package demo shows Trapeze at work: four programs write a documentation report on the source of a Go module, and each hands the task to
// the next. On the way a worker is killed, an agent rejects its offer, a handoff goes to the dead letters and is replayed, and a result is
// refused and fixed. Each program gets what fits its agent's context window, and fetches the rest. Server, workers and failures are real.
//
// Invariants:
//   - The demo uses loopback connections only, and no language model.
//   - The narration comes from the record as it grows, not from what the demo has planned. The summary is read from the server; it is an
//     error if the record does not have what the demo means to show.
//   - All processes are stopped, however the demo ends.
//
// Where to change what:
//   - demo.go: how long a demo may take; workers.go: which agents there are, their context windows, which of them fail, and how
//   - steps.go: what each program does with the task, and with which token budget it sends; sample.go: the module that they report on
//   - narrate.go: what is said of an entry; summary.go, record.go: what is shown and checked at the end (the table of hops is that of trapeze drift: content/drift/table.go)
//   - program.go: how a program calls the server
//
// Start reading at [Run], then program.go and steps.go for the programs, narrate.go, and record.go for the summary.
package demo
