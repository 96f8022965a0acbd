// Package suggest finds what somebody meant who mistyped a name, or called a command as another program does.
//
// Start reading at [Commands].
package suggest
