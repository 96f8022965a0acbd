// Package authority decides who may act on a task, and as what: its owner under the current epoch, its source, operators; and which permissions an owner can pass on. Each
// function refuses all others. What they may do in which state is decided in package handoff.
//
// Start reading at [RequireOwner] and [RequireSource].
package authority
