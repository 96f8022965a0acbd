// Package report does the work of the demo's programs: a documentation report on the source of a Go module, in the steps survey, analyse,
// write and review. Each step needs only the JSON that the previous one returned.
//
// Invariants:
//   - The same files give the same report: everything is sorted.
//   - A file that does not parse is counted and named, and is not an error.
//   - Results are limited in size: at most [MaxPackages] packages; the report says how many were omitted.
//
// Where to change what:
//   - survey.go: what is counted, and of how many packages; analyse.go: what is measured; write.go: the rules and sections of a report; review.go:
//     what is checked
//
// Start reading at [Look], which makes the [Survey], then [Analyse], [Write], [Review].
package report
