// Package ascii tests eight bytes of a text at a time: most texts are plain ASCII, and each byte alone would cost several times as much.
//
// A word is eight bytes of a text, the first one lowest. The methods say of all of its bytes at once whether one is of some kind.
//
// Start reading at [At].
package ascii
