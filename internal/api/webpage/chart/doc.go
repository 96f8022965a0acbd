// Package chart draws the figures of handoffs that have ended as lines in time.
//
// Start reading at [Of].
package chart
