// Package erasure holds the rules of erasing content and of legal holds. What is erased or held is named by a [Subject]: a task with its descendants,
// all tasks with a tag, a conversation, a memory item, or everything that was labelled with a name such as patient/4711. The holds and the erasures of a workspace are one stream (erasure/current); its [State] is
// the fold of its events.
//
// Invariants:
//   - A hold beats an erasure: while a hold names some content, no erasure removes that content, even if the erasure names it in another way.
//   - An erasure is recorded before any key is destroyed, and is pending until everything is done: it can be finished after a crash.
//   - Only operators erase what they name, set holds and lift them, with a reason; the server alone erases by the retention policy.
//
// Where to change what:
//   - decide.go: who may erase and hold, how many holds there may be, when a hold counts, and the fold
//   - subject.go: what can be named; which content that is, is found in usecase/erasures/find.go
//   - retention.go: which content a rule of retention applies to, and for how long content is kept that several rules apply to; a new condition of
//     a rule begins there, and gets its field in policy/retention.go
//   - event.go: the events and their fields
//
// Start reading at [Decide].
package erasure
