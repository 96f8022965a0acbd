// Package shell has what all commands share: the connection to the server, arguments, output and errors.
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
// Where to change what:
//   - errors.go: the exit code of each refusal, and how an error is printed
//   - connect.go: which server and which credential a command uses; tls.go: which CAs and certificates (with which version of TLS: cli/trust/files.go); files.go: where they are
//     kept; who.go: the error where a command needs an agent and none was named
//   - wait.go: for how long a server that went away is waited for
//   - argument.go: what @FILE and - mean, and how much input is read; short_id.go: what @last and shortened ids mean, and which handoff
//     or ticket is meant where the id of a task is given
//   - choice.go: flags with few values, and lists of what is allowed. What the user's shell completes otherwise is in completion/table.go.
//   - page.go: JSON or text, how the table of a list is aligned and coloured, and what is printed where a list goes on; quiet.go: what --quiet prints; cli/screen: how hidden characters are shown; format.go: times, numbers
//     and lengths of a line
//   - receipt.go: what is printed after a change, such as the tokens of the envelope; trail.go: how an event is printed
//   - paste.go: which flags of the command that runs are added to the commands that it prints
//   - task.go: which task a program of trapeze work means; epoch.go: under which epoch a command acts
//   - command.go: how commands are made; reach.go: what is said when no server answers; content.go: the flags of what goes along with a handoff
//
// Start reading at [Shell], then connect.go, then page.go.
package shell
