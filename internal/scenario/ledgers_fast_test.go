//go:build !slow && !outside

package scenario

// Without the tag slow, stories run on the double alone: it does everything that a distributed log may do. The embedded ledger has the stories
// that need a sound one, and the tests of the server.
func init() { ledgers = ledgers[1:] }
