package endpoint

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/hintroute"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Problem is the answer to a refused call (RFC 9457).
type Problem struct {
	Type    string         `json:"type" doc:"urn:trapeze:problem: and the code." example:"urn:trapeze:problem:stale_epoch"`
	Title   string         `json:"title" doc:"Kind of refusal, for people."`
	Status  int            `json:"status" doc:"HTTP status."`
	Detail  string         `json:"detail" doc:"What was refused and why."`
	Code    refusal.Code   `json:"code" doc:"Kind of refusal, for programs."`
	Hint    string         `json:"hint,omitempty" doc:"What to do next."`
	Routes  []string       `json:"routes,omitempty" doc:"The calls of this API that help, in the order of the hint, as method and path, with the id if the refusal knows it."`
	Helps   []Help         `json:"helps,omitempty" doc:"What the hint speaks of, as data: calls, by the command of the command line, and fields of a call."`
	Details map[string]any `json:"details,omitempty" doc:"The same as data, for programs."`

	challenge string // value of WWW-Authenticate
}

// NoToken is the refusal of a call without a token.
var NoToken = refusal.New(refusal.Unauthenticated, `send the header "Authorization: Bearer TOKEN"`, "the call has no token")

// statuses has the HTTP status and title of every code.
var statuses = map[refusal.Code]struct {
	status int
	title  string
}{
	refusal.Unauthenticated: {http.StatusUnauthorized, "Missing or invalid credential"},
	refusal.NotPermitted:    {http.StatusForbidden, "Not permitted"},
	refusal.NotFound:        {http.StatusNotFound, "Not found, or not visible to you"},
	refusal.Invalid:         {http.StatusBadRequest, "Malformed, or violates a rule"},
	refusal.TooLarge:        {http.StatusRequestEntityTooLarge, "Too large"},
	refusal.Conflict:        {http.StatusConflict, "Not possible in the current state"},
	refusal.StaleEpoch:      {http.StatusConflict, "Ownership has changed"},
	refusal.NotOwner:        {http.StatusForbidden, "Only for the owner"},
	refusal.Limit:           {http.StatusConflict, "A limit is reached"},
	refusal.Budget:          {http.StatusConflict, "A budget is spent or too small"},
	refusal.Unavailable:     {http.StatusServiceUnavailable, "Not available now"},
	refusal.Overloaded:      {http.StatusTooManyRequests, "More than your share is under way"},
	refusal.CircuitOpen:     {http.StatusServiceUnavailable, "The circuit of the receiver is open"},
	refusal.Expired:         {http.StatusGone, "Too late"},
	refusal.Unknown:         {http.StatusGatewayTimeout, "It may or may not have happened"},
}

// ProblemOf converts a refusal to a problem.
func ProblemOf(r *refusal.Error) *Problem {
	s, ok := statuses[r.Code]
	if !ok {
		s.status, s.title = http.StatusInternalServerError, "Internal error"
	}
	return &Problem{
		Type: "urn:trapeze:problem:" + string(r.Code), Title: s.title, Status: s.status,
		Detail: strings.ToValidUTF8(r.Message, "\uFFFD"), Code: r.Code, Hint: r.Hint, Routes: hintroute.Of(r.Helps), Helps: helpsOf(r.Helps), Details: r.Details,
	}
}

// Error returns code and detail on one line.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }

// GetStatus implements [huma.StatusError].
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements [huma.ContentTypeFilter].
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements [huma.HeadersError].
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.challenge != "" {
		h.Set("WWW-Authenticate", p.challenge)
	}
	switch p.Code {
	case refusal.Unavailable, refusal.Unknown:
		h.Set("Retry-After", "1")
	case refusal.Overloaded:
		h.Set("Retry-After", strconv.Itoa(p.retryIn()))
	case refusal.CircuitOpen:
		h.Set("Retry-After", strconv.Itoa(p.resetIn(time.Now())))
	default:
	}
	return h
}

// retryIn returns the number of seconds after which a caller with too much under way may try again.
func (p *Problem) retryIn() int {
	if s, ok := p.Details["retry_seconds"].(int); ok && s > 0 {
		return s
	}
	return 1
}

// resetIn returns the number of seconds until the circuit allows a probe.
func (p *Problem) resetIn(now time.Time) int {
	text, ok := p.Details["reset_at"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if !ok || err != nil {
		return 5
	}
	return int(min(max(at.Sub(now), time.Second), time.Hour)/time.Second) + 1
}

// Problem converts the error of a use case to a problem.
func (d *Router) Problem(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if r, ok := refusal.As(err); ok && r.Code.Valid() {
		p := ProblemOf(r)
		p.challenge = d.challenge(r)
		return p
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ProblemOf(refusal.New(refusal.Unavailable, "repeat the call", "the call was cancelled"))
	}
	return d.Internal(ctx, err)
}

// challenge returns the value of WWW-Authenticate for a refusal because of the credential (RFC 6750), with the URL of the resource metadata
// (RFC 9728); otherwise "".
func (d *Router) challenge(r *refusal.Error) string {
	text := `Bearer realm="trapeze"`
	scope, narrow := r.Details["scope"].(string)
	switch {
	case r.Code == refusal.NotPermitted && narrow:
		text += `, error="insufficient_scope", scope="` + scope + `"`
	case r.Code != refusal.Unauthenticated:
		return ""
	case r != NoToken:
		text += `, error="invalid_token"`
	}
	if d.tokens != "" {
		text += `, resource_metadata="` + d.tokens + `"`
	}
	return text
}

// Internal logs an internal error under an id, and returns a problem with only that id.
func (d *Router) Internal(ctx context.Context, err error) *Problem {
	id := rand.Text()[:12]
	d.log.ErrorContext(ctx, "internal error", append([]any{"request", id, "error", err}, About(ctx)...)...)
	p := ProblemOf(refusal.New(refusal.Unavailable, "tell the operator of the server; the log has details under this id",
		"internal error of the server (request %s)", id).With("request", id))
	p.Status, p.Title = http.StatusInternalServerError, "Internal error"
	return p
}

// Write sends a problem without huma.
func (p *Problem) Write(w http.ResponseWriter) {
	h := w.Header()
	maps.Copy(h, p.GetHeaders())
	h.Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = marshal(w, p) // the client is gone
}

// init makes the errors of huma problems of this package. These variables are the only way, and nothing else in the program uses them.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return Malformed(status, message, errs)
	}
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
}

// Malformed is the problem for a request that huma refused.
func Malformed(status int, message string, errs []error) *Problem {
	const hint = "see [what this call takes](describe)"
	var fields []map[string]string
	var texts []string
	for _, err := range errs {
		if r, ok := refusal.As(err); ok {
			return ProblemOf(r)
		}
		var d huma.ErrorDetailer
		if !errors.As(err, &d) {
			texts = append(texts, decodeError(err))
			continue
		}
		field, what := fieldOf(d.ErrorDetail())
		fields = append(fields, map[string]string{"field": field, "problem": what})
		texts = append(texts, field+": "+what)
	}
	switch {
	case status == http.StatusRequestTimeout:
		return late()
	case status == http.StatusRequestEntityTooLarge:
		return ProblemOf(refusal.New(refusal.TooLarge, "[store large content as an artifact](artifact put) and refer to it", "the %s",
			strings.TrimPrefix(message, "request ")))
	case len(texts) == 0 || len(fields) == 0 && status != http.StatusUnprocessableEntity:
		texts = append([]string{strings.TrimPrefix(message, "request ")}, texts...)
	}
	const most = 8
	if len(texts) > most {
		texts = append(texts[:most], fmt.Sprintf("and %d more", len(texts)-most))
	}
	r := refusal.New(refusal.Invalid, hint, "%s", refusal.Clip(strings.Join(texts, "; "), 1000))
	if len(fields) > 0 {
		r = r.With("fields", fields[:min(len(fields), most)])
	}
	return ProblemOf(r)
}

// late is the problem for a body that has not arrived in time, as from a client with more threads than it can run: nothing is wrong with the
// call itself, so that a client may repeat it.
func late() *Problem {
	p := ProblemOf(refusal.New(refusal.Unavailable, "send the call again, whole", "the body of the request did not arrive within %s", bodyTimeout))
	p.Status, p.Title = http.StatusRequestTimeout, "The request did not arrive in time"
	return p
}

// fieldOf returns the name of a field as its sender wrote it ("send.kind", not "body.send.kind"), and what is wrong with it.
func fieldOf(d *huma.ErrorDetail) (field, what string) {
	field = strings.TrimPrefix(strings.TrimPrefix(d.Location, "body."), "query.")
	field = refusal.Clip(strconv.Quote(refusal.Clip(field, 80)), 100)
	switch what = d.Message; what {
	case "unexpected property":
		what = "is not a field of this call"
	case "unknown query parameter":
		what = "is not a parameter of this call"
	}
	if choice, is := strings.CutPrefix(what, `expected value to be one of "`); is {
		what = fmt.Sprintf("%.80q is not one of: %s", fmt.Sprint(d.Value), strings.TrimSuffix(choice, `"`))
	}
	if bound, is := strings.CutPrefix(what, "expected number "); is && !strings.HasPrefix(bound, "to ") {
		what = fmt.Sprintf("is %v; use a number %s", d.Value, bound)
	}
	return strings.Trim(field, `"`), refusal.Clip(what, 300)
}
