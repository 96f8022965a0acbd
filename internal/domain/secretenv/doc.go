// Package secretenv says which variables of the server's environment are secret, so that no program that the server runs is given them.
//
// Start reading at [Without].
package secretenv
