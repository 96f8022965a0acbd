// Package place has the flags that say where a record is that several servers share.
//
// Start reading at [Place].
package place
