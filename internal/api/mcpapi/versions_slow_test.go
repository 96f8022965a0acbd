//go:build slow

package mcpapi_test

import "testing"

const (
	playedPrefixed = true
	playedTwice    = true
)

func eachVersion(t *testing.T, run func(t *testing.T, version string)) {
	for _, version := range []string{sessionVersion, statelessVersion} {
		t.Run(version, func(t *testing.T) { run(t, version) })
	}
}
