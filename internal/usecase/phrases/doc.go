// Package dispatch is the use cases that decide where a task goes: what people and agents say is to be done, understood and
// then done by the use cases of tasks.
//
// Invariants:
//   - What only looks is done at once. Anything else is done only when the caller sends back the confirmation of exactly
//     what was understood: a changed sentence, another task, another principal or a task that has moved do not pass with it,
//     and neither does one that is older than [MaxAge]. However often it comes, it is done once.
//   - Names are never guessed: an agent, capability or task that is not there is a refusal with those that come closest.
//   - Whether something may be done is for the use case that does it to say.
//
// Start reading at [Spoken].
package phrases
