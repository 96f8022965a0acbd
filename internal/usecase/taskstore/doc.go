// Package taskstore gives use cases the tasks: a fresh read, the check whether the caller has a part in a task, and
// what the rules decide becomes an entry, with a [Receipt] for the caller.
//
// Invariants:
//   - A task that a caller may not see is "not found", whatever it asks; the refusal is recorded.
//   - A change is decided on the task as it is when the entry is appended, and is durable before its receipt is given.
//
// Where to change what:
//   - visibility.go: who may know of a task, and who may try a command on it
//   - receipt.go: what the answer to a change says; sealed.go: its figures of the envelope
//   - notice.go: what an agent is told when it acts on a task that it has lost; who gets a notice is in task/notice.go
//   - reader.go: what memory items and conversations a task lets a principal read
//   - store.go: how a change is decided and recorded; relief.go: what is told of tasks that move off an agent
//   - members.go: how members of a long document are found
//
// Start reading at [Store.Change], then [Store.Sees].
package taskstore
