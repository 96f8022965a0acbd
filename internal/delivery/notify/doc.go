// Package notify tells people that they are asked: a contract, and the sinks that a server can be given.
//
// Invariants:
//   - A sink ends within its timeout, whatever the receiver does, and reads a bounded part of what it answers.
//   - A webhook goes to its configured URL and nowhere else: redirects are not followed.
//   - Names of sinks, which are logged, hold no credentials.
//   - What agents wrote is data: a program gets it as JSON on its standard input, never as arguments.
//
// What becomes a notice, and to whom it is sent, is decided in package courier (notify.go), and of alerts in package alerting.
//
// Where to change what:
//   - notify.go: the kinds of sinks here, and how long any of them may take for a message (of webhooks alone: webhook.go)
//   - package service: services that are named by a URL, such as Slack and e-mail, and how title and text are given to them. Only alerts go there: which sinks
//     an alert may have is decided in server/sinks.go, which a ticket may have in server/config.go
//   - ticket.go, alert.go: the two kinds of messages: their text, the fields of the JSON that webhooks and programs get, and the key by which a sink
//     knows a message again
//   - follow.go: how a sink follows the record, how often a message is sent again, and that its pauses are those of package event/backoff, for every kind of sink
//   - webhook.go: the headers of a webhook's request, and which answers are final; program.go: what a program gets, and how it is ended
//     (processgroup_unix.go: with the programs that it started)
//
// Start reading at [Message] (ticket.go and alert.go have the two kinds), then [Parse], which has the kinds of sinks of this package; then webhook.go and program.go.
package notify
