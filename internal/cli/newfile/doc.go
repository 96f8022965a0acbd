// Package newfile writes the files that commands are asked for: each appears whole or not at all, for its owner alone, and never in the place of another.
//
// Start reading at [Write]; [Set] is for several that belong together.
package newfile
