// Package stage is the work that the demo's four programs do: a documentation report on a Go module's source, made in
// the stages survey, analyse, write and review. It is real work over real files, and each stage needs only what the
// one before it handed on, as JSON.
//
// Invariants:
//   - The same files always give the same report: everything is sorted.
//   - A file that does not parse is counted and named, never fatal.
//   - What is handed on stays small: at most [MaxPackages] packages; the report says how many were left out.
//
// Start reading at [Look], then [Analyse], [Write], [Review].
package report
