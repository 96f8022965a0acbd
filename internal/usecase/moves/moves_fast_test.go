//go:build !slow

package moves_test

// step is the distance of the bytes of a file that are changed.
const step = 211
