// Package span makes the spans of a distributed trace from the record: one for each step of a handoff, for each handoff, for the time
// that an agent owns a task, and for each task.
//
// The names of spans and attributes are in one file, name.go, with those of the calls of the APIs; docs/traces.md is made from it.
//
// Invariants:
//   - The spans of a task are all in one trace: that of the first envelope, or, if it has none, one that is derived from the task's id. Child tasks
//     are in the trace of their parent.
//   - The ids of spans are derived from the task and its events: a step that is exported twice is the same span twice.
//   - A span has ids, names of agents, terms of closed sets, numbers and times: never what anybody wrote, and no token.
//   - A [Fold] reads no clock, and remembers a bounded number of tasks; others it reads again from the ledger.
//
// Where to change what:
//   - step.go: when each span begins and ends, and which outcomes make it an error
//   - fold.go: which events are looked at, and how many tasks are remembered
//   - span.go: the ids, and which trace a task without one is in
//   - name.go: the names of spans and attributes; from which entry on they are sent is in delivery/tracer, which traces are taken in otelapi/sampler.go,
//     where to in otelapi/environment.go and otelapi/traces.go
//
// Start reading at [Fold.Add], then fold.go; [Within] gives callers the context of a task's trace.
package span

//go:generate go run ./tracesdoc
