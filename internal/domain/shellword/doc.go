// Package shellword writes commands that people paste into a shell. Every command of a hint, a refusal or an answer is written by
// it, so that a value of another party is one word and cannot become an option.
//
// Start reading at [Command].
package shellword
