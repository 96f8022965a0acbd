// Package view defines the views: lists, inboxes and timers, derived from the record and rebuilt from it at any time. No
// decision relies on a view being current; decisions read the stream of a task.
//
// The implementation is sqlview, which must pass the tests of viewtest.
//
// Invariants:
//   - A view equals the result of a rebuild from the ledger.
//   - A reader that waits for a position sees everything up to it.
//   - An inbox states the position up to which it is complete. An item that comes later has a later position, also an offer
//     that is made again.
//   - No answer for one workspace contains anything of another.
//   - A search returns only items that its caller may read: pages are cut after that test, not before.
//
// Searches by meaning go by [MemoryVectors]. Vectors come from outside and are no fold of the record, so they are kept beside the
// views. The rules of who may read an item are the same.
//
// Where to change what:
//   - view.go: the usual and the greatest page of a list. The rows and the filters of a list are in the file of its noun: task.go, ticket.go,
//     memory.go, decision.go, workspace.go, and directory.go for agents, tokens and channels, whose lists
//     have no filters here
//   - inbox.go: the kinds of inbox items and their rank; turns.go: the order in which the senders of an inbox take turns, and how
//     many places of a page go to the sender that waited longest, whatever the priority. Which items an inbox has is folded in sqlview/inbox_item.go; how many may wait is
//     decided in quota/waiting.go
//   - ticket_page.go: the turns of askers on a first page of tickets, and what its cursor remembers, so that each ticket is on one page
//   - cursor.go: what the cursor of an inbox remembers for each rank
//   - trail.go: the audit document of a handoff, and the fields of each entry of a trail; export.go: the formats of exports, and which cells are quoted
//   - withhold.go: which fields of each event are content, and blanked for those who may not read it; who may is decided in
//     task/visibility.go
//   - memory.go: how many words of a query are used; hits are ranked in sqlview/search/rank.go
//   - count.go: what is counted for figures; ages and labels are given in monitor/points.go
//   - reference.go: which tasks refer to a file
//
// Start reading at [TaskQueries], or at [MemoryQueries] for memory items and conversations.
package view
