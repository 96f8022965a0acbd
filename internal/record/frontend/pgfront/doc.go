// Package pgfront keeps what front ends share in tables of the PostgreSQL database of their record.
//
// Invariants:
//   - When an agent was heard of is kept by the clock of the database.
//   - The turn is a lock of a session: it ends with the session, which the database may notice some seconds late. When the database ends the session of a
//     front end that vanished is decided in pglog/connect.go.
//
// Where to change what:
//   - pgfront.go: the tables; turn.go: how the turn is taken
//
// Start reading at [Open].
package pgfront
