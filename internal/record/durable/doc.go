// Package durable waits until what was written is on the disk.
//
// Start reading at [Sync].
package durable
