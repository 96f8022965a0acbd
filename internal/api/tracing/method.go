package tracing

import "net/http"

// methods are the methods that HTTP defines.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
	http.MethodConnect: true, http.MethodOptions: true, http.MethodTrace: true,
}

// Method returns the method of a call or, for one that HTTP does not define, other: callers can write anything there, which is in no log, figure or span.
func Method(method, other string) string {
	if methods[method] {
		return method
	}
	return other
}
