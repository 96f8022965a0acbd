// Package frontendtest is the test suite of every store of what front ends share.
//
// Start reading at [Run].
package frontendtest
