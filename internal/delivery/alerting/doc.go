// Package alerting brings what package monitor measures to the rules of alerts, and notifies people of what they decide.
//
// Invariants:
//   - It works behind the ledger: no append and no answer waits for it.
//   - It keeps no state of alerts: they are in the record. What cannot be recorded, as when the disk is full, is found again.
//   - People are notified of what is recorded, at least once for each sink, and of nothing that is silenced.
//
// Where to change what:
//   - alerting.go: how often alerts are judged; when one is raised is decided in alert/decide.go
//   - notify.go: which changes of alerts people are notified of, and which severity a sink gets; the fields and the text are in notify/alert.go, how
//     often a message is tried in notify/follow.go
//
// Of several servers on one record one alone judges alerts: frontend/turn.go decides which.
//
// Start reading at [Alerting.Run].
package alerting
