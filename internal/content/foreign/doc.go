// Package foreign reads the handoff documents of other systems, so that their users can migrate: it turns a document into
// the parts of a new task.
//
// It reads four formats, told apart by their fields: a handoff document with an audit trail, a handoff context with facts
// and decisions, a memory envelope with references and a token limit, and an envelope of another Trapeze server, of any
// supported major. The messages of an agent framework are none of them. What another system says about the past is a claim: it is kept as such ([Task.Claimed]) and never
// becomes an entry of this record. The sender that a document names is a claim too; the sender of the task is the principal
// that makes the request.
//
// Invariants:
//   - Nothing is silently lost: a field with no counterpart is kept in [Content].Data or in [Task.Claimed] under its own
//     name, and a [Note] says so.
//   - A document that two readers would understand differently is refused: a key given twice, a number that loses digits.
//   - A constraint never becomes mere data: one of an unknown kind is kept as a preference.
//   - A refusal names the field.
//
// Where to change what:
//   - task.go: the formats, and what of a document becomes a task. A new format begins there, then in decode.go (its fields and its decoder), then in format.go
//   - format.go: which fields of a document become the intent and the context; decode.go: how formats are told apart, and the
//     largest document (a request is bounded before that in httpapi/httpapi.go)
//   - constraint.go: which constraints are hard; field.go: how many facts are taken
//   - envelope.go: what an envelope of another server brings
//
// Start reading at [Decode].
package foreign
