// Package reserve has a file that keeps space on the disk for what has to be recorded before it is answered, such as a read of content. It gets
// smaller as that is recorded on a full disk, and whole again when there is enough space.
//
// Where to change what:
//   - reserve.go: how large the file is, and when it becomes smaller; allocate_linux.go, allocate_other.go: how its space is taken
//   - free_unix.go, free_other.go, recent.go: what is left on the disk, and how often the system is asked for it
//
// Start reading at [File].
package reserve
