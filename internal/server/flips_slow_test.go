//go:build slow

package server

// flips is how many bits of each entry are changed, one after the other.
const flips = 300
