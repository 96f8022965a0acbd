// Package garbage decides how much memory the process of a server takes.
//
// Start reading at [Keep].
package garbage
