package client

import (
	"errors"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Code says what sort of refusal an [Error] is. It is an error itself, for [errors.Is].
type Code string

// The codes of refusals.
const (
	Unauthenticated Code = "unauthenticated" // no token, or one that no longer counts
	NotPermitted    Code = "not_permitted"   // the token is good but may not do this
	NotFound        Code = "not_found"       // no such thing, or none that the token may see
	Invalid         Code = "invalid"         // the request is malformed, or breaks a rule on its own
	TooLarge        Code = "too_large"       // a size limit is exceeded
	Conflict        Code = "conflict"        // the present state or set-up does not allow this; to repeat it unchanged does not help
	StaleEpoch      Code = "stale_epoch"     // ownership has moved since the caller last looked
	NotOwner        Code = "not_owner"       // only the task's owner may do this
	Limit           Code = "limit"           // a limit of the task is reached
	Budget          Code = "budget"          // a budget of the task is spent
	Unavailable     Code = "unavailable"     // nobody can serve this now; to repeat it later may help by itself
	Throttled       Code = "overloaded"      // the caller has more under way than its share: try again later
	CircuitOpen     Code = "circuit_open"    // the receiver's circuit is open
	Expired         Code = "expired"         // the time for this is over
	Unknown         Code = "unknown"         // it may or may not have happened; repeat it with the same key
)

// Codes lists every code.
func Codes() []Code {
	return []Code{Unauthenticated, NotPermitted, NotFound, Invalid, TooLarge, Conflict, StaleEpoch, NotOwner, Limit, Budget, Unavailable, Throttled, CircuitOpen, Expired, Unknown}
}

func (c Code) Error() string { return string(c) }

// Help is one thing that helps after a refusal: a call, or a field of the same call.
type Help = wire.Help

// Error is a refusal. errors.Is(err, client.NotFound) tells its code.
type Error struct {
	Status  int            // of HTTP
	Code    Code           // what sort of refusal
	Message string         // what was refused and why
	Hint    string         // what to do next
	Routes  []string       // the calls of the HTTP API that help, as method and path
	Helps   []Help         // what the hint speaks of, as data: calls, and fields of a call
	Details map[string]any // what was refused and why, as data

	after time.Duration // Retry-After
}

// Error gives code, message and hint on one line.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Is makes errors.Is(err, code) true for refusals with that code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code) // a code is never wrapped
	return ok && code == e.Code
}

// Away reports whether a call failed because the server is away or cannot say: repeated, it may have another answer. It is false for nil and other refusals.
func Away(err error) bool {
	var e *Error
	return err != nil && (!errors.As(err, &e) || e.Code == Unavailable || e.Code == Unknown)
}

// Passing reports whether the same call may succeed a little later, and when to try again at the earliest.
func (e *Error) Passing() (ok bool, after time.Duration) {
	return e.Code == Unknown || e.Code == Unavailable && e.Status != http.StatusInternalServerError, e.after
}

// errorOf reads a refusal from an answer.
func errorOf(res *http.Response, body []byte) *Error {
	p := wire.ProblemOf(res, body)
	return &Error{Status: res.StatusCode, Code: Code(p.Code), Message: p.Detail, Hint: p.Hint, Routes: p.Routes, Helps: p.Helps, Details: p.Details, after: p.After}
}
