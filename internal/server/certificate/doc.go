// Package certificate is the certificate of the server, with the CA of its clients' certificates if they need one.
//
// Contract:
//   - The files are read when they change, without a restart: each new connection gets what is in them. Open connections go on.
//   - A certificate, its key and the clients' CA are taken over together, or not at all: while one of them is missing, broken or
//     half written, connections get the last that were whole, and [Store.Err] says why. So a renewal fails no connection.
//   - The file of the key must be its owner's alone, or root's and a group's.
//   - TLS is at least 1.2; everything else is as Go has it by default.
//
// Where to change what:
//   - certificate.go: how much time a certificate must have left before the alert certificate-old is raised (Err), the versions of TLS, and that files that changed are read again at a new connection; how often they are looked at without one: server/tls.go; private_unix.go: which permissions of a key are refused
//
// Start reading at [Store].
package certificate
