// Package outage logs that something cannot be sent to another program: when that begins, at most once a minute while it lasts, and when it ends.
//
// A program that is down would otherwise fill the log of the server with the same line.
//
// Start reading at [Report].
package outage
