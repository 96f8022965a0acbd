// Package erasures has the use cases of erasing content and of legal holds.
//
// Invariants:
//   - What a subject names is found in the record itself, not in views.
//   - A task that has not ended is not erased.
//   - Memory items that an erasure names are forgotten, then the erasure is recorded, then its keys are destroyed, then what is derived from the content is built again without it. Each step can be repeated:
//     an erasure that a crash interrupts is finished at the next start.
//
// Where to change what:
//   - find.go: what a subject names, going down (children, files, memory), and what is kept although it is related
//   - retain.go: which content has passed its time of retention, and at what interval it is looked for and erased. The rules of a file are read by
//     policy/retention.go; erasure/retention.go decides how long content is kept if several apply
//   - closed.go: up to where the record is finished with, so that old entries can be put away (server/putaway)
//   - erasures.go: what the answer says of an erasure (a new number begins in domain/erasure/event.go, and is counted in find.go)
//   - forget.go: how the content of a forgotten memory item is erased from the record, and how soon files are written again
//   - erase.go: which subjects name a task or a memory item, going up (ancestors, tags, conversations): a hold on any of them refuses
//     the erasure; what else refuses one, and the order of its steps; finish.go: what is done at the next start; pause.go: how soon a
//     workspace may erase again
//   - Who may erase or hold is decided in package domain/erasure; artifacts/drop.go deletes the files.
//
// Start reading at [Erasures.Erase], then finish.go. What a subject names is in find.go.
package erasures
