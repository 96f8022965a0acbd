//go:build slow && !race

package server

// flippedBits is how many bits of each entry are changed, one after the other.
const flippedBits = 300

// changedPlaces is at how many positions a record is changed in each way.
const changedPlaces = 20

// alertsInFull is whether all stories of an alert are told, and each twice.
const alertsInFull = true
