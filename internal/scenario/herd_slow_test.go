//go:build slow && !race

package scenario

// herdSize is the number of agents that wait, and of handoffs that are sent.
const herdSize = 1000
