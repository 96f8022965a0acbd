// Package alerting brings what package monitor measures to the rules of alerts, and notifies people of what they decide.
//
// Invariants:
//   - It works behind the ledger: no append and no answer waits for it.
//   - It keeps no state of alerts: they are in the record. What cannot be recorded, as when the disk is full, is found again.
//   - People are notified of what is recorded, at least once for each sink, and of nothing that is silenced.
//
// Start reading at [Alerting.Run].
package alerting
