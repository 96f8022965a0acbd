package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

var noSniff = []string{"nosniff"}

// guard stands before every route: it checks the host, the origin and the credential, and recovers panics.
func (s *service) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { s.recovered(recover(), w, r) }()
		h := w.Header()
		h["X-Content-Type-Options"] = noSniff
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(endpoint.AnswerLimit)) // streams set their own, piece by piece
		if !s.knownHost(r.Host) {
			endpoint.ProblemOf(refusal.New(refusal.NotPermitted, "use a loopback name or an IP address, or configure the server with this name",
				"the server is not known as %.100q", r.Host)).Write(w)
			return
		}
		if err := origins.Check(r); err != nil {
			endpoint.ProblemOf(refusal.New(refusal.NotPermitted, "call from a program, or from the server's own pages",
				"browsers may not change anything here from other sites")).Write(w)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			h["Cache-Control"] = endpoint.NoStore
			c, err := s.authenticate(r)
			if err != nil {
				s.door.Problem(r.Context(), err).Write(w)
				return
			}
			if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // else what is malformed would be left out unseen
				endpoint.ProblemOf(refusal.New(refusal.Invalid, "escape what stands after the ?, and part it by &", "the parameters are malformed: %s", err)).Write(w)
				return
			}
			if r.ContentLength > s.opts.MaxBody && !isUpload(r) {
				endpoint.Malformed(http.StatusRequestEntityTooLarge, fmt.Sprintf("request body of %d bytes is too large, at most %d are taken",
					r.ContentLength, s.opts.MaxBody), nil).Write(w)
				return
			}
			r = endpoint.Enter(w, r, c, s.authenticate)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *service) authenticate(r *http.Request) (tasks.Caller, error) {
	const bearer = "Bearer "
	h := r.Header["Authorization"]
	if len(h) != 1 || len(h[0]) <= len(bearer) || !strings.EqualFold(h[0][:len(bearer)], bearer) {
		return tasks.Caller{}, endpoint.NoToken
	}
	c, err := s.app.Authenticate(r.Context(), h[0][len(bearer):])
	if person := r.Header[endpoint.PersonHeader]; err == nil && person != nil {
		return asPerson(c, r, person)
	}
	return c, err
}

// asPerson is the person at an agent's client, where that is what the request says it comes from. A person answers what people
// are asked; anything else is the agent's to do, in its own name.
func asPerson(c tasks.Caller, r *http.Request, name []string) (tasks.Caller, error) {
	if m := personal.FindString(r.URL.Path); r.Method != http.MethodPost || m == "" || len(name) != 1 {
		return tasks.Caller{}, refusal.New(refusal.NotPermitted, "leave the header "+endpoint.PersonHeader+" out", "a person at a client only answers, approves and denies")
	}
	return c.AsPerson(name[0])
}

// personal is what a person does at an agent's client.
var personal = regexp.MustCompile(`^/v1/(handoffs|tickets)/[^/]+/(answer|approve|deny)$`)

// recovered answers a call that panicked, if it did. A stream that has begun is cut off instead.
func (s *service) recovered(p any, w http.ResponseWriter, r *http.Request) {
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
		panic(p)
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	s.door.Internal(r.Context(), err).Write(w)
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
