// Package channels has the use cases of channels: named lists of agents to publish to. [Store] gives other use cases the channels.
//
// Invariants:
//   - A workspace has at most [MaxChannels]; what bounds one channel is in package domain/channel.
//   - Agents subscribe themselves; operators may subscribe any agent.
//   - A later change of a channel does not change the tasks that were published to it before, nor who is offered them.
//
// Where to change what:
//   - create.go: how many channels a workspace may have; the limits of one are in package domain/channel
//   - store.go: how many channels are kept in memory; who gets what is published is in channel/state.go
//   - describe.go, remove.go, subscribe.go: who may change a channel
//
// Start reading at [Channels.Subscribe].
package channels
