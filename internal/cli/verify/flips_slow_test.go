//go:build slow && !race

package verify

// flipEvery is the distance of the bytes of which bits are flipped.
const flipEvery = 1
