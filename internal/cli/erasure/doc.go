// Package erasure is the commands of erasing content and of legal holds.
//
// Start reading at [Command].
package erasure
