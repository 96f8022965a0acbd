// Package kept keeps a sum over the rows of each table that no rebuild of the views makes again, so that rows that were changed, added or
// lost are noticed: the record does not tell what is in such a table.
//
// Invariants:
//   - Who writes rows of such a table does it in [Change].
//
// Start reading at [Tables].
package kept
