// Package gitsnap takes the state of a git working tree as a small document and a patch, and makes another clone's
// working tree the same: how coding agents hand over code that is not committed yet. It runs the git program.
//
// Invariants:
//   - Taking a snapshot changes nothing in the repository: not the index, not the objects, not the files.
//   - Applying one touches the working tree only after the patch was tried elsewhere and led to the very tree that the
//     snapshot names; and only a clean working tree. What was applied is compared with that tree again.
//   - Nothing that a repository's configuration or a patch says runs a program: no hooks, filters, external diffs, text
//     conversions, file system monitors, transports. What a filter would have changed is taken as it is on disk.
//   - Nothing is written outside the working tree, and no symbolic link that leads out of it comes with a patch.
//   - Submodules and nested repositories are not followed; they are named as skipped.
//   - No credentials travel in the remote's address. Nothing is fetched.
//
// Start reading at [Take] and [Apply].
package gitsnap
