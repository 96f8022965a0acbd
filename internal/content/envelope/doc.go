// Package envelope is the sealed document that travels with a task: what was asked, where the work stands, what is
// known and decided, what must be kept to, and what is expected back.
//
// An [Envelope] is built, then sealed once. Sealing writes it as canonical JSON (RFC 8785), with a random salt so
// that its digest gives nothing away, and names it by the SHA-256 of exactly those bytes. Nothing changes a sealed
// envelope: to say more, make the [Envelope.Next] one, which names its parent, so that a task's envelopes form a
// chain. [Render] turns an envelope into the prompt its receiver reads.
//
// Documents carry a version, major.minor. A newer minor may add fields: they are kept in the Extra maps and written
// again unchanged. Another major is refused; [Converter] is the way between majors.
//
// Canonical JSON is written here because the general library costs about 30 µs per KiB on the path of every handoff; the
// tests hold the two against each other.
//
// Invariants:
//   - One document has one canonical form and one digest; [Open] takes no other form.
//   - What [Seal] makes, Open accepts and gives back unchanged.
//   - Every document is within the limits of limits.go; a refusal names the field.
//   - Rendered text of other authors never leaves its fence, and what would be invisible in it is shown.
//
// Start reading at [Envelope], then [Seal].
package envelope
