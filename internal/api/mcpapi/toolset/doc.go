// Package toolset says which tools a client sees, and under which names. A client chooses both with the address of the server
// (/mcp?prefix=trapeze_&tools=worker) or with the flags of the command, since frameworks that put the tools of several servers into one list
// refuse tools of the same name, or call the wrong one.
//
// Invariants:
//   - Each message carries its choice. The choice says nothing about the principal, and makes no other server, session or limit.
//   - A text that names a tool is a template of [Set.Text], so that it has the name that the client sees.
//   - A choice that is not valid is refused with what is valid.
//
// Start reading at [Set].
package toolset
