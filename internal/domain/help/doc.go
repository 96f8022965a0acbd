// Package help says what helps after a refusal, as data: a call, by the command that does it, and the id it takes, or a field of the call. A hint is
// written once, for every API, with its helps as links, and each API makes its own words of them: a route, a tool, a command.
//
// Invariants: the calls are a closed set; a link with another call is plain text, so that text of others in a hint names none that there is not.
//
// Where to change what:
//   - call.go: the calls; id.go: the kinds of ids that they take, and the form of each
//   - help.go: links of hints, how they are read, and where the words of an API go
//   - command.go: the command of a shell for a call, with its flags
//
// Start reading at [Parse].
package help
