// Package docket is the tasks on record, as use cases reach them: one is read afresh, it is settled whether the caller has
// a part in it, and what the rules decide becomes an entry, with a [Receipt] for the caller.
//
// Invariants:
//
//   - What a caller may not see is not found, whatever it asks; the refusal is on record.
//   - A change is decided on the task as it is when the entry is appended, and is durable before its receipt is given.
//
// Start reading at [Docket.Change], then [Docket.Sees].
package taskstore
