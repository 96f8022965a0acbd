// Package session signs a person in at the issuer of a server by the device flow (RFC 8628), and keeps the session in a file that only its owner
// can read. The session is renewed while the issuer's own lasts, and ends with it.
//
// Invariants:
//   - A token is sent to the server that it is for, and a refresh token to the issuer that gave it, over TLS or within this machine.
//   - A file of a session is its owner's alone, and whole.
//
// Where to change what:
//   - issuer.go: how the issuer is asked, and how long; renew.go: when a token is renewed; store.go: the file of sessions
//   - host.go: the label of a session
//
// Start reading at [Begin], then [Store].
package session
