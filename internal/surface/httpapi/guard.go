package httpapi

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// visit is one request on its way through the door.
type visit struct {
	caller app.Caller
	r      *http.Request
	w      http.ResponseWriter
}

type visitKey struct{}

// caller is who makes the call. The guard lets no call under /v1 through without one.
func caller(ctx context.Context) app.Caller {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v.caller
	}
	return app.Caller{}
}

// patient lifts the read deadline for calls that are meant to take long. The connection would otherwise count as
// broken when the server's ReadTimeout is over.
func patient(ctx context.Context) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // then there is none to lift
	}
}

// answerLimit is how long a call may take, waiting included, until its client has the answer: one that does not read
// would hold on to it for ever.
const answerLimit = 2 * time.Minute

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// guard stands before every route: it checks the host, the origin and the credential, and recovers panics.
func (s *service) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{r: r, w: w}
		defer s.recovered(v)
		h := w.Header()
		h["X-Content-Type-Options"] = noSniff
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerLimit)) // streams set their own, piece by piece
		if !s.knownHost(r.Host) {
			problemOf(refusal.New(refusal.NotPermitted, "use a loopback name or an IP address, or configure the server with this name",
				"the server is not known as %.100q", r.Host)).write(w)
			return
		}
		if err := origins.Check(r); err != nil {
			problemOf(refusal.New(refusal.NotPermitted, "call from a program, or from the server's own pages",
				"browsers may not change anything here from other sites")).write(w)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			h["Cache-Control"] = noStore
			var err error
			if v.caller, err = s.authenticate(r); err != nil {
				s.problem(r.Context(), err).write(w)
				return
			}
			if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // else what is malformed would be left out unseen
				problemOf(refusal.New(refusal.Invalid, "escape what stands after the ?, and part it by &", "the parameters are malformed: %s", err)).write(w)
				return
			}
			if r.ContentLength > s.opts.MaxBody && !isUpload(r) {
				malformed(http.StatusRequestEntityTooLarge, fmt.Sprintf("request body of %d bytes is too large, at most %d are taken",
					r.ContentLength, s.opts.MaxBody), nil).write(w)
				return
			}
			v.r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
		}
		next.ServeHTTP(w, v.r)
	})
}

func (s *service) authenticate(r *http.Request) (app.Caller, error) {
	const bearer = "Bearer "
	h := r.Header["Authorization"]
	if len(h) != 1 || len(h[0]) <= len(bearer) || !strings.EqualFold(h[0][:len(bearer)], bearer) {
		return app.Caller{}, refusal.New(refusal.Unauthenticated, `send the header "Authorization: Bearer TOKEN"`, "the call carries no token")
	}
	return s.app.Authenticate(r.Context(), h[0][len(bearer):])
}

// ended reports whether the token of a call that takes long has expired or was revoked since the call began.
func (s *service) ended(r *http.Request) bool {
	_, err := s.authenticate(r)
	return refusal.CodeOf(err) == refusal.Unauthenticated
}

// recovered answers a call that panicked. A stream that has begun is cut off instead.
func (s *service) recovered(v *visit) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
		panic(p)
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	s.internal(v.r.Context(), err).write(v.w)
}

// knownHost keeps pages out that had their own name resolve to this server (DNS rebinding): such a page's requests
// carry its name. An IP address in their place is no page's name.
func (s *service) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	for _, h := range s.opts.Hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}
