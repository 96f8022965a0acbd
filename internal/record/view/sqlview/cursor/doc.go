// Package cursor keeps how far the followers of a ledger are, in the database of its views. Start reading at [Cursors].
package cursor
