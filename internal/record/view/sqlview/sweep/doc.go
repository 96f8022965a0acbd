// Package sweep goes through rows of the views, a few at a time, and says of which stream of the ledger each is made: a row that the ledger does not
// have is found when it is its turn.
//
// Tables that count, or whose rows are made of several streams, are not among them. Start reading at [Sweep].
package sweep
