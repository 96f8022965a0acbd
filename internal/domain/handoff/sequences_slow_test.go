//go:build slow && !race

package handoff

// sequences is the number of random stories.
const sequences = 12_000
