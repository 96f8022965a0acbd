// Package channels is the use cases of channels: named lists of agents to publish to. [Store] is the channels as other use cases
// reach them.
//
// Invariants:
//   - A workspace has at most [MaxChannels]; what bounds one channel is in package domain/channel.
//   - Agents subscribe themselves; operators may subscribe any agent.
//   - What was published to a channel stays what it is when the channel changes.
//
// Start reading at [Channels.Subscribe].
package channels
