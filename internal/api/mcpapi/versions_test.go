//go:build !slow

package mcpapi_test

import "testing"

const (
	// playedPrefixed has each conversation played again with a prefix for the names of tools.
	playedPrefixed = false

	// playedTwice has conversations played with both versions of the protocol in which both are heard the same.
	playedTwice = false
)

// eachVersion runs a test with the newest version of the protocol: what the other does differently is in the conversations.
func eachVersion(t *testing.T, run func(t *testing.T, version string)) { run(t, statelessVersion) }
