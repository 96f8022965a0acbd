package httpapi

import (
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// RequireCertificate refuses calls over connections without a client certificate, which TLS has verified. Probes need none: an
// orchestrator has no certificate.
func RequireCertificate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		probe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		if !probe && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0) {
			endpoint.ProblemOf(refusal.New(refusal.NotPermitted, "use a certificate of a CA that the server trusts: --client-cert FILE --client-key FILE",
				"the call has no client certificate, which this server requires in addition to the token")).Write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}
