// Package constrainttext gives constraints their kinds as agents and people write them, over MCP and on the command line.
//
// Start reading at [WithKinds].
package constrainttext
