// Package tracer follows the record and sends the spans that it makes to a collector.
//
// Invariants:
//   - It works behind the ledger: no append and no answer waits for it.
//   - Each entry's spans are sent at least once. How far they have been is kept in a file, so that they go on there after a restart, whatever
//     ended the server; a span that is sent again is the same one.
//   - Entries older than the first start with traces are not sent.
//   - If the collector does not take them, a bounded number of spans waits in memory, and the others in the ledger.
//
// Where to change what:
//   - tracer.go: how many spans of the record wait, how many are sent together, and how often
//
// Start reading at [Tracer.Run]; package record/span makes the spans.
package tracer
