// Package reserve has a file that keeps space on the disk for what has to be recorded before it is answered, such as a read of content. It gets
// smaller as that is recorded on a full disk, and whole again when there is enough space.
//
// Start reading at [File].
package reserve
