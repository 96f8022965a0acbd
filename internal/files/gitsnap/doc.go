// Package gitsnap makes a snapshot of a git working tree, as a small document and a patch, and restores it in the working tree
// of another clone: this is how coding agents hand over code that is not committed yet. It runs the git program.
//
// Invariants:
//   - Taking a snapshot changes nothing in the repository: not the index, not the objects, not the files.
//   - Applying one touches the working tree only after the patch was applied to a temporary index and gave exactly the tree
//     that the snapshot names; and only a clean working tree. The result is compared with that tree again.
//   - No configuration of a repository and no patch can run a program: no hooks, filters, external diffs, text conversions,
//     file system monitors, transports. Files are taken as they are on disk, without filters.
//   - Nothing is written outside the working tree, and a patch contains no symbolic link that leads out of it.
//   - No commit is made, here or at the receiver: uncommitted changes stay uncommitted.
//   - Submodules and nested repositories are not followed; the snapshot names them as skipped.
//   - The remote's URL contains no credentials. Nothing is fetched.
//
// Where to change what:
//   - take.go: what of a working tree is taken; snapshot.go: the greatest sizes of the document and of all changed files (of the patch: take.go)
//   - apply.go: what is refused when one is applied; unpacked_size.go: patches that would unpack to more
//   - autorun.go: files that programs run by themselves, which are named to the receiver
//   - git.go: how git is run, and with which environment
//
// Start reading at [Take] and [Apply]. The files that a program runs or obeys by itself (hooks, settings of editors and agents), of which a receiver is
// warned, are listed in autorun.go.
package gitsnap
