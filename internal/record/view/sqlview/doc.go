// Package sqlview implements the views in SQLite: in the file of the embedded ledger ([OpenEmbedded]), or in a
// database of their own that follows any ledger ([Follow]). Both use the same projection.
//
// The projector folds each stream as the rules do, and caches the folds of recently changed ones. An entry changes in the
// tables the difference between their rows and the new fold, which is computed in memory and written once per task and
// batch. A stream that is not cached is folded again from the ledger.
//
// An entry is folded when the views hear of it, and they have it from then on: embedded ones before its append returns. Their tables are written when somebody reads them, or watches what
// has changed, or within two seconds (package late): a task that changes several times meanwhile is written once. After a crash, the entries that the tables lack are heard again.
//
// Memory and conversations have tables and queries of their own, in package search.
//
// Invariants:
//   - A query sees every entry up to the position that the views had when it began. Where what was heard could not be written, it fails until that is heard again.
//   - The content of the tables depends on the entries alone, never on their batches or on the caches.
//   - Nothing scans all tasks: starting, projecting and listing take as long with a million finished ones.
//   - A waiting caller holds no connection.
//
// Where to change what:
//   - inbox_item.go: which items an inbox has, their order and their age; the turns of senders are in view/turns.go
//   - task_fold.go: the lengths of previews; write_task.go: the columns of a task, and which tasks are open (for the limit of a workspace and the quota of a principal); artifact.go: which files a task refers to
//   - schema.go: the tables, and the version that builds all views again; project.go: what an entry changes, and how many folds are kept
//   - query_inbox.go: how a page of an inbox is read; query_task.go: tasks that wait for others, and their number; how a list of tasks is filtered and ordered is in
//     tasklist/tasklist.go; query_directory.go: agents, tokens, channels; query_count.go: the numbers for figures
//   - ticket.go: which tickets are open, and for whom; lists of them are in package ticketlist
//   - follow.go: how views of another ledger catch up and repair themselves; heard.go: which changes are written at once; late/late.go: how late tables may be; verify.go: how they are compared with the ledger as a whole,
//     disagree.go: how some tasks are, at each measurement; views.go: how views are opened and built again
//   - workspace.go: workspaces and what they use; decision.go: which decisions of routing are listed; vector.go: beside package search
//
// Start reading at [Views], then project.go.
package sqlview
