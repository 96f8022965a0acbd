// Package advice makes hints ready to paste: what helps is a command, which acts as the one that failed.
//
// Start reading at [Of].
package advice
