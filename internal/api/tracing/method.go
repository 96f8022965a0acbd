package tracing

import "net/http"

// Method returns the method of a call or, for one that HTTP does not define, other: callers can write anything there, which is in no log, figure or span.
func Method(method, other string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return other
}
