// Package freeaddr gives tests addresses that a server listens at later, and again after a restart.
//
// Start reading at [New].
package freeaddr
