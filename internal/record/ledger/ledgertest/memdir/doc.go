// Package memdir has the temporary files of a test program in memory, so that its tests do not wait for the disk. What a disk does is tested in
// programs without it.
//
// Start reading at [Main].
package memdir
