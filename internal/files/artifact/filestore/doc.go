// Package filestore keeps artifacts as files: DIR/data/WORKSPACE/ab/abcdef…, written beside and renamed into place.
//
// Invariants:
//   - One process has a directory at a time; the server's lock on its data sees to that.
//   - A file under data is complete and on disk, whatever crashes. Unfinished ones live in DIR/new, which Open empties.
//   - Files can be read and written by their owner alone, and no path leaves DIR, symbolic links included.
//   - No workspace keeps more than its quota, and nothing is put while the disk has little room left: the record needs it.
//   - A file's time of change is when it was last put or touched.
//
// Start reading at [Open].
package filestore
