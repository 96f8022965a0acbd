//go:build !slow || race

package packing_test

import "flag"

// The quick suite tries fewer random inputs than the slow one, which tries as many as rapid does by itself: 100.
func init() {
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
}
