// Package headcache keeps the heads of the streams that were used last in memory.
//
// Start reading at [Cache].
package headcache
