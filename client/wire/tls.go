package wire

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// plainCall begins the answer of a server with TLS to a call without.
const plainCall = "Client sent an HTTP request to an HTTPS server"

// Unsafe says what is wrong with TLS, and what to do, if a request to a server failed because of that. A certificate can be renewed
// meanwhile, so that the call can be made again later; a URL does not change by itself.
func Unsafe(err error, base string) (p Problem, ok bool) {
	p = Problem{Code: "unavailable"}
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	switch text := err.Error(); {
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		p.Code, p.Detail, p.Hint = "invalid", "the server at "+base+" does not use TLS, and the URL begins with https://", "use http://, or give the server a certificate"
	case errors.As(err, &authority):
		p.Detail = "the certificate of the server at " + base + " is of no CA that this client trusts"
		p.Hint = "trust the server's CA: --ca FILE or TRAPEZE_CA; in a Go client Options.TLS; for all programs SSL_CERT_FILE"
	case errors.As(err, &name):
		p.Detail, p.Hint = fmt.Sprintf("the certificate of the server at %s is for other names: %s", base, namesOf(name.Certificate)), "use a URL with one of these names, or give the server a certificate for this one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		p.Detail, p.Hint = fmt.Sprintf("the certificate of the server at %s is not valid now: %v", base, invalid), "renew it on the server, which takes it over without a restart, and check the clock of this machine"
	case errors.As(err, &verify):
		p.Detail, p.Hint = fmt.Sprintf("the certificate of the server at %s cannot be verified: %v", base, verify.Err), "give the server another certificate, or this client the CA of this one: --ca FILE or TRAPEZE_CA"
	case strings.Contains(text, "remote error: tls: "):
		_, why, _ := strings.Cut(text, "remote error: tls: ")
		p.Detail, p.Hint = "the server at "+base+" does not accept the TLS of this client: "+why, "if the server requires a client certificate, use one of its CA: --client-cert FILE --client-key FILE"
	default:
		return Problem{}, false
	}
	return p, true
}

// text is a problem as an answer has it.
func (p Problem) text() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		return nil // ProblemOf then calls it an answer of something else
	}
	return b
}

// namesOf lists the names of a certificate, at most eight.
func namesOf(c *x509.Certificate) string {
	var names []string
	for _, name := range c.DNSNames {
		names = append(names, fmt.Sprintf("%.100q", name))
	}
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names[:min(len(names), 8)], ", ")
}
