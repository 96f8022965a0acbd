// Package sqlconn calls the driver of SQLite without the pool of database/sql: one connection with its prepared statements, for one goroutine
// at a time. Start reading at [Conn].
package sqlconn
