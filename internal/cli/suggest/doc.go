// Package suggest finds the name that was mistyped, or the command that another program calls differently.
//
// Start reading at [Commands].
package suggest
