// Package erasure has the commands of erasing content and of legal holds.
//
// Start reading at [Command].
package erasure
