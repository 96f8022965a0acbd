//go:build !slow

package server

// flips is how many bits of each entry are changed, one after the other.
const flips = 4

// places is at how many positions a record is changed in each way.
const places = 1
