// Package shell is what every command needs: which server, as whom, how arguments are read, and how to answer.
//
// A room of commands takes a [Shell] and returns cobra commands made with its Command, Call and [Group]. A command reads
// its arguments with Text, Document, TaskArg and the flag types here, asks the server through the client of Dial, and
// answers with Emit: the API's JSON, the ids alone, or a [Page] for people. What goes wrong is returned as an error;
// whoever ran the command line shows it with Fault and Complain and ends with [ExitCode].
//
// Invariants:
//   - Who acts is decided by the credential alone; the command line only picks which one (connect.go).
//   - A token is read from, and kept in, files of its owner alone, and a given one is never swapped for another.
//   - Text of others is made visible before it is printed: no control characters reach a terminal.
//   - What is read from files and standard input is bounded.
//   - Every refusal has one exit code, and every error a message that says what to do next where we know it.
//
// Start reading at [Shell], then connect.go, then page.go.
package shell
