package session

import "os"

// OnHost is the name of this machine, for the label of a token that is made on it; empty if it has none.
func OnHost() string {
	if host, err := os.Hostname(); err == nil {
		return " on " + host
	}
	return ""
}
