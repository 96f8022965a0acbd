// Package usage says in plain words what is wrong with the flags and arguments of a command.
//
// Where to change what:
//   - usage.go: the words for each mistake, and which arguments cannot be empty
//
// Start reading at [Explain].
package usage
