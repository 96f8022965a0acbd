// Package drift says what each hop of a task kept, changed and dropped: facts, decisions, constraints, references, and
// the intent.
//
// Everything is compared by id. An entry with the same id came through, changed if it says something else. An entry
// that names another one in "supersedes" is that one, changed, unless both are there. A rewording under a new id is one
// entry dropped and another added: nobody can tell from words alone that they mean the same.
//
// Invariants:
//   - Every entry of the earlier envelope is in exactly one of kept, changed, omitted and dropped; every entry of the
//     later one in exactly one of kept, changed and added.
//   - What was said and not given is in omitted, or in dropped if nothing says why, at the hop that said it too.
//   - What the later envelope lists among its omissions is omitted, not dropped: it is on record and can be fetched.
//   - The same chain always gives the same report.
//
// Start reading at [Of], then [Retention].
package drift
