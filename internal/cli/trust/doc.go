// Package trust reads the files by which a client knows a server: the CAs of the server, and the certificate of the client with its key.
//
// Invariants: a file is read again for each connection, so that a renewed one needs no restart; a private key that others can read is refused.
//
// Where to change what:
//   - files.go: the least version of TLS of a client with files of its own, and which keys are refused. Without files, Go's defaults count (shell/tls.go)
//
// Start reading at [Files].
package trust
