// Package frontend defines what the front ends of one record share beside its entries: keys, when agents were last heard of, who they are, how far
// followers have come, and which one of them has the turn: it does the work that one front end must do alone. A [Store], of PostgreSQL or of NATS, keeps it.
//
// Invariants:
//   - A key is made once, by the first front end that needs it: the others get the same.
//   - When an agent was heard of is exchanged as an age: clocks of front ends that differ change nothing.
//   - A cursor never goes back, and what it says was done.
//   - One front end has the turn. While one that was cut off has not noticed that it lost it, for some seconds, two act as if they had it,
//     so the work must be harmless if it is done twice.
//
// Where to change what:
//   - frontend.go: how often front ends exchange what they know, and the time limit of that; when agents are forgotten; when a front end that is not heard of counts as
//     silent: usecase/cluster/cluster.go, the same for every store
//   - turn.go: what follows from the turn; cursor.go: how far followers have come; others.go: what front ends tell of themselves
//   - how the turn is taken and given up: pgfront/turn.go, natsfront/turn.go
//
// Every store passes the suite in package frontendtest. Start reading at [Store].
package frontend
