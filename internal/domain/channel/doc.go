// Package channel holds the rules for channels: named lists of agents to publish to. One channel is one stream
// (channel/NAME); its [State] is the fold of its events. Publishing is no event here: it is a handoff to the agents
// that subscribe at that moment, by claim or by fan-out, and the id of the handoff or of the child task is the stable
// delivery id.
//
// It never reads a clock: now is an input.
//
// Invariants:
//   - [Decide] may refuse and changes nothing. [Fold] never refuses. A State is immutable and may be shared.
//   - A command that would change nothing yields no events and no error, so every command may be repeated.
//   - An agent subscribes and unsubscribes itself; operators anybody. The creator of a channel, or an operator, describes
//     and removes it.
//   - There are never more subscribers than a task may have children.
//
// Where to change what:
//   - decide.go: who may change a channel, and how many subscribers it has
//   - state.go: whom a publisher reaches; how many channels there may be is in usecase/channels/create.go
//   - event.go: the events of a channel, and what each changes
//
// Start reading at [State], then [Decide].
package channel
