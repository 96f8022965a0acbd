// Package usage says in plain words what is wrong with the flags and arguments of a command, and shows its flags in groups.
//
// Where to change what:
//   - usage.go: the words for each mistake, and which arguments and flags that name something cannot be empty; texts such as --ask are checked by the server
//   - groups.go: the order of flags in help
//
// Start reading at [Explain].
package usage
