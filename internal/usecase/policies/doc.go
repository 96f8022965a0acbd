// Package rulebook is the use cases of policies: which is in force in a workspace, how a file comes into force, and what it
// makes of a task.
//
// Invariants:
//   - A file with any problem never replaces a policy that is in force.
//   - Every version that came into force is an entry on record, and what is in force is the newest of them: the same on
//     every node and after a restart, whatever became of the file.
//   - Nobody is asked while a decision is made; what was told to an adviser is on record, and nothing else is.
//   - What an operator reads of a policy is on record before it is answered.
//
// Start reading at [Book].
package policies
