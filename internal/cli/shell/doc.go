// Package shell is what all commands share: the connection to the server, arguments, output and errors.
//
// A package of commands takes a [Shell] and returns cobra commands made with its Command, Call, ReceiptCall, TaskCall and OwnerCall, and
// with [Group]. A command reads its arguments with Text, Document, TaskArg and the flag types here, calls the server with the client of
// Dial, and prints its answer with Emit: the API's JSON, IDs alone, or a [Page] for people. It returns errors, which the root prints with
// PrintError and turns into an exit code with [ExitCode].
//
// Invariants:
//   - The credential alone decides who acts; the command line only chooses which credential to use (connect.go).
//   - Tokens are read from and kept in files that only their owner can read. A token that the caller gave is never replaced by another.
//   - Text of others is escaped before it is printed: no control characters reach a terminal.
//   - Input from files and standard input is limited in size.
//   - Every refusal has one exit code, and errors say what to do next.
//
// Start reading at [Shell], then connect.go, then page.go.
package shell
