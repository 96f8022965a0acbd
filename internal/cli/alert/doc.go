// Package alert has the commands of alerts: what is raised, why, and what to do about it.
//
// Start reading at [Command].
package alert
