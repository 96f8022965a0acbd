// Package drift reports what each hop of a task kept, changed and dropped: facts, decisions, constraints, references, and
// the intent.
//
// Everything is compared by id. An entry with the same id was kept, or changed if its text differs. An entry that names
// another one in "supersedes" counts as a change of that one, unless the envelope has both; so does one that stands for it by its "lineage", because
// what it names was itself replaced since the earlier envelope. A rewording under a new id is one entry
// dropped and another added: the words alone do not show that they mean the same.
//
// Invariants:
//   - Every entry of the earlier envelope is in exactly one of kept, changed, omitted and dropped; every entry of the
//     later one in exactly one of kept, changed and added.
//   - An entry that the sender added and the receiver did not get is reported at that hop: as omitted, or as dropped if no
//     reason is recorded. If that entry replaced an earlier one, the report names the earlier entry, says whether it was
//     reworded or superseded, and names the author of the new words.
//   - An entry that another author superseded or reworded is changed at that hop. [Retention], which follows entries to the last receiver,
//     counts it as one that did not survive.
//   - An entry that the later envelope lists among its omissions is omitted, not dropped: it can be fetched.
//   - The same chain always gives the same report.
//
// Where to change what:
//   - entry.go: which kinds of entry are compared, and when two with one id are the same; lifted.go: constraints that somebody lifted
//   - drift.go: which entry of the later envelope stands for an earlier one, and what is then kept, changed, omitted or dropped; texts.go: what counts as lost and replaced of the state, the data and
//     other texts without ids
//   - report.go: the form of the report, and what survived all hops; table.go: the same as text. What trapezetest compares is in
//     trapezetest/hop.go
//
// Start reading at [Of], then [Retention].
package drift
