//go:build !slow

package scenario

// herdSize is how many agents wait, and how many handoffs come.
const herdSize = 100
