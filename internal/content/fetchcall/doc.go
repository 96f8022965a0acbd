// Package fetchcall writes the calls that prompts name: those that fetch what a prompt leaves out, in the form of the interface by which its reader came.
//
// Start reading at [Via]: a new interface begins there.
package fetchcall
