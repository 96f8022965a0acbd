// Package service notifies people of alerts by the services of others: Slack, Teams, e-mail, PagerDuty and more, each by one URL, through the
// library shoutrrr.
//
// Invariants:
//   - A URL holds secrets. It is in no name, no log and no error, and the library's own errors, which may quote it, are not shown.
//   - A sink ends within its timeout. A service that does not end gets no second message meanwhile.
//
// The title is the subject of an e-mail, unless its URL has one, and elsewhere the first line of the text.
//
// Start reading at [Parse].
package service
