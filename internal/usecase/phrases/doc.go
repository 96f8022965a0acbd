// Package phrases does what people and agents say is to be done: it understands a sentence, has it confirmed, and does it by the
// use cases of tasks.
//
// Invariants:
//   - What only reads is done at once. Anything else is done only when the caller sends back the confirmation of exactly
//     what was understood. A confirmation is refused for a changed sentence, another task, another principal or a task that
//     has moved, and when it is older than [MaxAge]. However often it is sent, the thing is done once.
//   - Names are never guessed: an agent, capability or task that does not exist is a refusal with the nearest names.
//   - The use case that does it decides whether it may be done.
//
// Where to change what:
//   - confirm.go: how long a confirmation counts, and for whom; resolve.go: which names are refused
//   - do.go: what each sentence does, by a use case of tasks; the sentences are in phrase/grammar.go. What no use case does yet begins in
//     package domain/handoff
//
// Start reading at [Phrases.Do].
package phrases
