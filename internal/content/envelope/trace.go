package envelope

import "strings"

// maxTraceState is the maximum length of a tracestate in an envelope, in bytes: what the W3C recommendation requires to propagate.
const maxTraceState = 512

// ParseTrace returns the trace context of the headers traceparent and tracestate of a request, as the W3C recommendation on trace
// context says: without a valid traceparent there is none, and a tracestate that is malformed or too long is dropped. A traceparent of a
// later version is read as one of version 00.
func ParseTrace(traceparent, tracestate string) Trace {
	const length = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")
	parent := strings.Trim(traceparent, " \t")
	if len(parent) > length && parent[length] == '-' && !strings.HasPrefix(parent, "00-") {
		parent = parent[:length] // a later version may add fields
	}
	if !validTraceparent(parent) || parent[3:35] == strings.Repeat("0", 32) || parent[36:52] == strings.Repeat("0", 16) {
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
	p := strings.Split(s, "-")
	if len(p) != 4 || !isLowerHex(strings.Join(p, "")) {
		return false
	}
	return len(p[0]) == 2 && p[0] != "ff" && len(p[1]) == 32 && len(p[2]) == 16 && len(p[3]) == 2
}

func validTraceState(s string) bool {
	return len(s) <= maxTraceState && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
