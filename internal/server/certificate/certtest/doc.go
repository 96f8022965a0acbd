// Package certtest makes CAs and certificates for tests.
//
// Start reading at [NewCA].
package certtest
