// Package policies is the use cases of policies: which one is in force in a workspace, how a file comes into force, and what it
// makes of a task. [Store] is the policies in force, [Decider] decides by them.
//
// Invariants:
//   - A file with any problem never replaces a policy that is in force.
//   - Every version that came into force is an entry, and the newest of them is in force: the same on every node and after
//     a restart, whatever became of the file.
//   - An adviser is asked before a decision, and never within one (advice.go); what was told to an adviser is recorded.
//   - What an operator reads of a policy is recorded before it is answered.
//
// Start reading at [Policies.Reload], then [Decider.Decide].
package policies
