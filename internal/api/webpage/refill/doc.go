// Package refill gives people back the form that was refused: its page, with the error before the form, and with what they typed in it.
//
// Start reading at [Page].
package refill
