// Package setup has the commands that set up agents' programs: init configures MCP clients, doctor checks the set-up, and hook answers
// the hooks of clients.
//
// Invariants:
//   - Nothing is written that was not shown before, and nothing without consent.
//   - The rest of a file stays as it is. A file that cannot be parsed is refused, and the previous file is kept.
//   - No token is ever written to a client's file.
//   - A hook never holds a client up: if it fails, the turn ends as it would without a hook.
//   - Doctor changes nothing, starts no server, and runs no program from a client's file but trapeze itself, as trapeze mcp with the file's arguments.
//   - A fix of doctor ends with a command to paste, after which the next doctor finds one problem less, or says what to do by hand.
//
// Where to change what:
//   - clients.go: which clients there are and what their files get; places.go: where those are; plan.go: what one run changes
//   - skill.go: what agents are told about handing off; hook.go: when a turn is prolonged
//   - write.go: how a file is replaced and kept; init.go: what is asked before
//   - doctor.go: the list of checks, and those of the program, the data directory and the disk (its least free space); doctor_server.go: of the server, its clock, tokens, the policy, and the agent that commands act as; doctor_clients.go: of clients' files;
//     doctor_mcp.go: of the connection; doctor_hooks.go: of what hooks run
//   - system_unix.go, system_other.go: how permissions and free space are read, by operating system
//
// Start reading at [Init], then clients.go and plan.go, then [Doctor].
package setup
