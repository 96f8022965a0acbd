// Package expect holds a result against what its task expects: format, length and JSON Schema. What it cannot check
// (criteria in words, formats it does not know) it names, so that a reviewer gets it with the result.
//
// Schemas come from outside and are hostile until shown otherwise. A schema is refused at the door if it is too large,
// refers to anything but itself, or would apply itself to the same value for ever. Patterns are RE2, which runs in
// linear time. What is left is metered: a check that takes too many steps ends with a refusal, so that no schema and
// no result can hold a server up. The limit is a number of steps, not a time, so that a busy machine does not change the
// answer.
//
// Invariants:
//   - Nothing is loaded: no file, no address, and no schema but the one that was given.
//   - A refusal says where in the result the fault is and what was expected, for at most [Options.Problems] faults,
//     and says how many more there are.
//   - A result is never let through because checking it was too much work.
//
// Start reading at [Checker.Check].
package expect
