// Package completion completes what a person types at a shell: the values of arguments and flags, as the server knows them.
//
// Invariants:
//   - Every argument and every flag with a value has a source, be it that nothing is known of its values; a test walks all commands.
//   - Without a server, or when it refuses or is slow, nothing is completed, and no error is shown.
//
// Where to change what:
//   - table.go: what completes each argument and flag, such as the live tasks or the newest in any state; read.go: how these values are read, and how
//     many (of lists without a limit there, the usual page of the server: view/view.go); complete.go: how long the server is waited for; a flag marked as taking ids of tasks or handoffs
//     is completed there, before the table
//
// Start reading at [Add], then table.go: what completes what. The values themselves are read in read.go.
package completion
