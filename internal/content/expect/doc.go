// Package expect checks a result against the expectations of its task: format, length and JSON Schema. It returns the
// expectations that it cannot check (criteria in words, unknown formats), for the reviewer of the result.
//
// Schemas come from outside and are presumed hostile. A schema is refused when the task is created if it is too large, has
// too many subschemas or too large a pattern, refers to anything but itself, uses $dynamicRef, or would apply itself to the same value for ever. Patterns are RE2, which runs in linear
// time. Everything else is metered: a check that takes too many steps ends with a refusal, so that no schema and no result
// can occupy a server. The limit is a number of steps, not a time, so that the load of the machine does not change the
// outcome.
//
// Invariants:
//   - Nothing is loaded: no file, no address, and no schema but the given one.
//   - A refusal names the place and the expectation of at most [Options.Problems] faults, and the number of further ones.
//   - A result is never accepted because checking it was too much work.
//
// Where to change what:
//   - expect.go: which expectations are checked, and how many faults are named; format.go: the formats
//   - schema.go: how a schema is compiled, and its greatest size; meter.go: how much work a check may take, and the schemas that are refused for it:
//     patterns that are too large, too many subschemas; walk.go: references outside, $dynamicRef, and schemas that would never end or are nested too deep
//   - decode.go: what JSON a result may have; cache.go: how many schemas are kept
//
// Start reading at [Checker.Check].
package expect
