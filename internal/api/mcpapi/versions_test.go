//go:build !slow

package mcpapi_test

import "testing"

// playedPrefixed has each conversation played again with a prefix for the names of tools.
const playedPrefixed = false

// eachVersion runs a test with the newest version of the protocol: what the other does differently is in the conversations.
func eachVersion(t *testing.T, run func(t *testing.T, version string)) { run(t, statelessVersion) }
