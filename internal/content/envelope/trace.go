package envelope

import "strings"

// maxTraceState is the maximum length of a tracestate in an envelope, in bytes: what the W3C recommendation requires to propagate.
const maxTraceState = 512

// traceparentLen is the length of a traceparent of version 00.
const traceparentLen = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")

// ParseTrace returns the trace context of the headers traceparent and tracestate of a request, as the W3C recommendation on trace
// context says: without a valid traceparent there is none, and a tracestate that is malformed or too long is dropped. A traceparent of a
// later version is read as one of version 00.
func ParseTrace(traceparent, tracestate string) Trace {
	parent := strings.Trim(traceparent, " \t")
	if len(parent) > traceparentLen && parent[traceparentLen] == '-' && !strings.HasPrefix(parent, "00-") {
		parent = parent[:traceparentLen] // a later version may add fields
	}
	if !validTraceparent(parent) || strings.Trim(parent[3:35], "0") == "" || strings.Trim(parent[36:52], "0") == "" {
		return Trace{}
	}
	state := strings.Trim(tracestate, " \t")
	if !validTraceState(state) {
		state = ""
	}
	return Trace{Parent: "00" + parent[2:], State: state}
}

// validTraceparent reports whether s has the form 00-32 hex-16 hex-2 hex of the W3C recommendation, with any version but ff.
func validTraceparent(s string) bool {
	if len(s) != traceparentLen || s[:2] == "ff" {
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

func validTraceState(s string) bool {
	return len(s) <= maxTraceState && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
