// Package erasures is the use cases of erasing content and of legal holds.
//
// Invariants:
//   - What a subject names is found in the record itself, not in views.
//   - A task that has not ended is not erased.
//   - An erasure is recorded, then its keys are destroyed, then what is derived from the content is built again without it. Each step can be repeated:
//     an erasure that a crash interrupts is finished at the next start.
//
// Start reading at [Erasures.Erase], then finish.go. What a subject names is in find.go.
package erasures
