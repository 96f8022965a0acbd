// Package envelope defines the sealed document that travels with a task: what was asked, the state of the work, the facts
// and decisions so far, the constraints, and the expected result.
//
// An [Envelope] is built, then sealed once. Sealing writes it as canonical JSON (RFC 8785), with a random salt so that its
// digest reveals nothing, and names it by the SHA-256 of exactly those bytes. A sealed envelope never changes: to add to
// it, make the [Envelope.Next] one, which names its parent, so that the envelopes of a task form a chain. [Render] turns
// an envelope into the prompt of its receiver.
//
// Documents carry a version, major.minor. A newer minor may add fields: they are kept in the Extra maps and written again
// unchanged. Another major is refused; [Converter] converts between majors; there is one major so
// far, and tests have a second.
//
// Invariants:
//   - One document has one canonical form and one digest; [Open] accepts no other form.
//   - Open accepts every result of [Seal] and returns the same envelope.
//   - Every document is within the limits of limits.go; a refusal names the field.
//   - Rendered text of other authors never leaves its fence, and invisible characters in it are shown.
//
// Where to change what:
//   - envelope.go: the fields of the document and its version; authors.go: whose texts it has; validate.go: what else is refused; checker.go: how a refusal names its field
//   - limits.go: the greatest sizes that [Open] accepts: never make one smaller, or older envelopes cannot be read. What senders may add is limited in
//     usecase/envelopes/content.go
//   - render.go: the order and headings of a receiver's prompt, and its first lines (kind, reason, priority, deadline, and when the context is stale); render_constraints.go: its rules; render_omissions.go: its list of what was
//     left out; render_dropped.go: how it tells what was dropped for a bound. How texts are fenced and entries indented is in package
//     content/prompt, and how parts are given one by one in content/parts. Which call fetches a part: package content/fetchcall
//   - parts.go: the fields of a memory item, a file, a turn and an omission; enum.go: the kinds of parts and the reasons for omitting them
//   - codec.go, convert.go, extra.go: how documents of other versions are read
//   - buffers.go: the memory that sealing uses again
//   - seal.go: what a digest covers. Encryption of the record is something else: package record/seal
//
// Start reading at [Envelope] (envelope.go: every field of the document), then [Seal]. The prompt shows fields of the document and nothing else,
// so what is new in a prompt begins as a field of the document (of a fact or decision: Item).
package envelope
