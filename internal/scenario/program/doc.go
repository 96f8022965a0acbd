// Package program builds the program and runs its server in processes of their own, for tests that use it as its users do.
//
// Start reading at [Main] and [Serve].
package program
