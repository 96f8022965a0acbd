package tracecontext

import "strings"

// maxState is the maximum length of a tracestate in an envelope, in bytes: what the W3C recommendation requires to propagate.
const maxState = 512

// parentLen is the length of a traceparent of version 00.
const parentLen = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")

// Parse returns the trace context of the headers traceparent and tracestate of a request, as the W3C recommendation on trace
// context says: without a valid traceparent there is none, and a tracestate that is malformed or too long is dropped. A traceparent of a
// later version is read as one of version 00.
func Parse(traceparent, tracestate string) (parent, state string) {
	parent = strings.Trim(traceparent, " \t")
	if len(parent) > parentLen && parent[parentLen] == '-' && !strings.HasPrefix(parent, "00-") {
		parent = parent[:parentLen] // a later version may add fields
	}
	if !ValidParent(parent) || strings.Trim(parent[3:35], "0") == "" || strings.Trim(parent[36:52], "0") == "" {
		return "", ""
	}
	state = strings.Trim(tracestate, " \t")
	if !ValidState(state) {
		state = ""
	}
	return "00" + parent[2:], state
}

// ValidParent reports whether s has the form 00-32 hex-16 hex-2 hex of the W3C recommendation, with any version but ff.
func ValidParent(s string) bool {
	if len(s) != parentLen || s[:2] == "ff" {
		return false
	}
	for i := range len(s) { // of each call and each envelope: without an allocation
		switch c := s[i]; i {
		case 2, 35, 52:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// ValidState reports whether s is ASCII that can be seen, and not too long.
func ValidState(s string) bool {
	return len(s) <= maxState && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
