// Package indexsum computes the sum over the index of streams that the frame of each entry has.
//
// Start reading at [Sum].
package indexsum
