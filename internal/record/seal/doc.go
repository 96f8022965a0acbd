// Package seal encrypts the content of entries, so that it can be erased by destroying a key while every proof still verifies: proofs
// hash what is stored, which stays as it is.
//
// A [Sealer] gives each stream (a task, a conversation, a memory item) a key of its own, of a [KeyFile] beside the record. What of an
// event is content is said in content.go: the rest, such as names, times and digests, stays readable, and so the state of a task is known
// after its content is gone.
//
// Invariants:
//   - A key is on disk before an entry that needs it is appended, and is given to one stream only.
//   - What was encrypted under a destroyed key reads as erased; under a key that is missing or damaged, as damaged.
//
// Where to change what:
//   - content.go: which fields of each event are encrypted. Which of them a reader without permission does not see is decided in
//     view/withhold.go
//   - sealer.go: how entries are encrypted and read, the text that stands where content was erased, and how many keys are in memory; outlines.go: what a verifier reads in the place of
//     content without its keys
//   - keyfile.go: the file of keys; installation.go: the variable of the environment, or the file, that has the key of the installation (a variable without TRAPEZE_ in front must be withheld in domain/secretenv); wrap.go: how it encrypts them
//   - pending.go: what a crash leaves to be done; usecase/erasures/finish.go does it
//
// Start reading at [Sealer].
package seal
