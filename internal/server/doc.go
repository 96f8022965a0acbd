// Package server assembles the server: configuration, wiring, and the order in which parts start and stop.
//
// Invariants:
//   - One process per data directory.
//   - Nothing listens before the record is open and the views are up to date; nothing is closed before the calls
//     in progress have ended; the record is closed last.
//   - The data directory and all in it belong to its owner alone.
//
// Where to change what:
//   - config.go: the settings and their defaults, and the sinks for tickets (log, webhook, exec); sinks.go: those for alerts, which may also be services
//     such as e-mail; server.go: the order of starting and stopping, the space that is kept for
//     reads, how often views are repaired; stop.go: when event streams are ended (how long calls may go on is Drain in config.go)
//   - shared.go: what a server does for the others that share its record
//   - backup.go: which files of the data directory a backup takes, which of them are secrets that go into a file of their own, and into which directories a backup is restored; move.go: from where a backup takes a record, and what a restore into a shared place does around
//     the copying, which is in sharedrecord/fill.go
//   - policy.go: where policy files are, when the server reads them, and what happens at the start if one is invalid; how one
//     comes into force is in package usecase/policies
//   - tls.go: which addresses are refused without TLS, and how often the files of the certificate are looked at; owner_unix.go: which permissions of files are refused
//   - package garbage: how often garbage is collected; package putaway: how entries are put away
//   - erasure.go: where keys are kept; tree.go: where the proofs are; package recordfile: what a verifier reads
//   - artifacts.go: the loop that sweeps files (its interval is in config.go); figures.go: the figures of the process; traces.go: whether spans are sent (how often: delivery/tracer/tracer.go, otelapi/traces.go)
//   - The probes of load balancers are answered in httpapi/health.go.
//   - people.go: the configuration of people who sign in; segments.go: what is opened, and refused, before entries are put away; clock.go: the clock of tests
//   - cluster.go: how package cluster, which has what a server tells the others, is given what it needs; page_key.go: the key of the sessions of the page
//   - temporary_linux.go: where temporary data is; processor_unix.go: how processor time is measured
//   - package certificate: its certificate; package sharedrecord: records that servers share
//
// Start reading at [Open] and [Run].
package server
