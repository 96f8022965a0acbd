// Package policy has the commands of routing: policy, route and do.
//
// Invariants:
//   - The server, arguments and output are reached through [shell.Shell] alone.
//   - A policy file is checked by the code that the server uses.
//
// Where to change what:
//   - policy.go: check, show, reload and test; route.go: how a decision is printed; decisions.go: the list of decisions; do.go: requests in plain
//     English
//
// Start reading at [Command], then route.go and do.go.
package policy
