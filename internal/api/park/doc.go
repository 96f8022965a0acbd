// Package park lets a call that waits hold less memory than a call does. The caller, in the same process, first makes the call with a
// [Place] in its context. If it would wait, it ends instead, and leaves in the place what it would have waited for; the caller waits for
// that, and makes the call again, without the place.
//
// Start reading at [With].
package park
