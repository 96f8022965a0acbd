package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/park"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

var noSniff = []string{"nosniff"}

// guard wraps every route: it checks host, origin and credential, and recovers panics.
func (s *service) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call *counted
		logged := s.opts.Log.Enabled(r.Context(), slog.LevelDebug)
		if (logged || s.opts.Called != nil || s.opts.Tracer != nil) && park.From(r.Context()) == nil {
			call = &counted{ResponseWriter: w, api: s, start: time.Now(), logged: logged}
			w = call
			defer func() { s.called(call, r) }()
		}
		defer func() { s.recovered(recover(), w, r) }()
		if admitted := s.checked(w, r, call, origins); admitted != nil {
			r = admitted
			next.ServeHTTP(w, r)
		}
	})
}

// checked returns the request that the route is given, or nil after a refusal. It is apart from [service.guard], whose stack a call that waits holds.
func (s *service) checked(w http.ResponseWriter, r *http.Request, call *counted, origins *http.CrossOriginProtection) *http.Request {
	h := w.Header()
	h["X-Content-Type-Options"] = noSniff
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(endpoint.AnswerLimit)) // streams set one for each write
	if !s.knownHost(r.Host) {
		endpoint.ProblemOf(refusal.New(refusal.NotPermitted, "use a loopback name or an IP address, or [add this name to the accepted hosts of the server](serve .host)",
			"the host %.100q is not accepted", r.Host)).Write(w)
		return nil
	}
	if err := origins.Check(r); err != nil {
		endpoint.ProblemOf(refusal.New(refusal.NotPermitted, "call from a program, or from the pages of the server",
			"cross-origin requests of browsers must not change anything")).Write(w)
		return nil
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") || r.URL.Path == metricsPath {
		h["Cache-Control"] = endpoint.NoStore
		c, err := s.authenticate(r)
		if err != nil {
			s.router.Problem(r.Context(), err).Write(w)
			return nil
		}
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // Query would drop malformed parameters silently
			endpoint.ProblemOf(refusal.New(refusal.Invalid, "escape the parameters after the ?, and separate them with &", "the parameters are malformed: %s", err)).Write(w)
			return nil
		}
		if r.ContentLength > s.opts.MaxBody && !isUpload(r) {
			endpoint.Malformed(http.StatusRequestEntityTooLarge, fmt.Sprintf("request body of %d bytes is too large, the limit is %d",
				r.ContentLength, s.opts.MaxBody), nil).Write(w)
			return nil
		}
		c = s.trace(c, r, call)
		r = endpoint.Enter(s.app.Work.Call(r.Context(), c), w, r, c, s.again)
	}
	return r
}

func (s *service) authenticate(r *http.Request) (caller.Caller, error) {
	const bearer = "Bearer "
	h := r.Header["Authorization"]
	if len(h) != 1 || len(h[0]) <= len(bearer) || !strings.EqualFold(h[0][:len(bearer)], bearer) {
		return caller.Caller{}, endpoint.NoToken
	}
	find := s.app.Tokens.Authenticate
	if r.Method == http.MethodGet && r.URL.Path == clusterPath {
		find = s.authenticateForCluster
	}
	c, err := find(r.Context(), h[0][len(bearer):])
	if person := r.Header[endpoint.PersonHeader]; err == nil && person != nil {
		return asPerson(c, r, person)
	}
	return c, err
}

// recordPatience is how long the record is waited for by the call that says why it does not answer.
const recordPatience = 2 * time.Second

// authenticateForCluster is for the call that shows the servers of the record. It is needed most when the record does not answer, so a token that this server
// knows from before counts then.
func (s *service) authenticateForCluster(ctx context.Context, text string) (caller.Caller, error) {
	try, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	c, err := s.app.Tokens.Authenticate(try, text)
	if refusal.CodeOf(err) == refusal.Unavailable {
		if known, ok := s.app.Tokens.Recall(ctx, text); ok {
			return known, nil
		}
	}
	return c, err
}

// asPerson returns the person at the client of an agent as the caller, if the request names one. A person can only answer questions
// there: what an agent asked for is approved and denied by somebody with a credential of their own.
func asPerson(c caller.Caller, r *http.Request, name []string) (caller.Caller, error) {
	if m := personal.FindString(r.URL.Path); r.Method != http.MethodPost || m == "" || len(name) != 1 {
		return caller.Caller{}, refusal.New(refusal.NotPermitted, "omit the header "+endpoint.PersonHeader, "a person at the client of an agent can only answer questions")
	}
	return c.AsPerson(name[0])
}

// personal matches the calls of a person at the client of an agent.
var personal = regexp.MustCompile(`^/v1/tickets/[^/]+/answer$`)

// recovered answers a call that panicked. A stream that has started is aborted instead.
func (s *service) recovered(p any, w http.ResponseWriter, r *http.Request) {
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
		panic(p)
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	s.router.Internal(r.Context(), err).Write(w)
}

// knownHost prevents DNS rebinding: the requests of a page whose name resolves to this server have that name as host. An IP address is
// safe, because no page can have it as its name.
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
