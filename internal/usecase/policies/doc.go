// Package policies has the use cases of policies: which one is in force in a workspace, how a file comes into force, and what it
// makes of a task. [Store] is the policies in force, [Decider] decides by them.
//
// Invariants:
//   - A file with any problem never replaces a policy that is in force.
//   - Every version that came into force is an entry, and the newest of them is in force: the same on every server and after
//     a restart, whatever became of the file.
//   - An adviser is asked before a decision, and never within one (advice.go); what was told to an adviser is recorded.
//   - What an operator reads of a policy is recorded before it is answered.
//
// Where to change what:
//   - reload.go, load.go, adopt.go: when a file comes into force, at a call and at the start
//   - advice.go: how often an adviser is asked; its time and cost are bounded in package routing/openai
//   - check.go: which targets of a file must exist; the faults of the file itself are found in policy/parse.go
//   - route.go: who may ask where a task would go
//   - versions.go: how many old versions one answer lists; decisions.go: what it has decided
//   - decider.go: what is asked of the policy for one task; how rules match is in policy/match.go
//   - embedder.go: which model makes vectors for a workspace
//   - store.go: how many policies are kept in memory
//
// Start reading at [Policies.Reload], then [Decider.Decide].
package policies
