package handoff

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Code says what sort of refusal this is. The set is closed: every surface
// maps each code exactly once, and a code outside Codes is a bug.
type Code string

// The refusal codes.
const (
	// CodeUnauthenticated: no credential, or one that no longer counts.
	CodeUnauthenticated Code = "unauthenticated"
	// CodeNotPermitted: the credential is good but may not do this.
	CodeNotPermitted Code = "not_permitted"
	// CodeNotFound: no such thing, or none that the caller may see.
	CodeNotFound Code = "not_found"
	// CodeInvalid: the request is malformed or breaks a rule on its own.
	CodeInvalid Code = "invalid"
	// CodeTooLarge: a size limit is exceeded.
	CodeTooLarge Code = "too_large"
	// CodeConflict: the present state does not allow this.
	CodeConflict Code = "conflict"
	// CodeStaleEpoch: ownership has moved since the caller last looked.
	CodeStaleEpoch Code = "stale_epoch"
	// CodeNotOwner: only the task's owner may do this.
	CodeNotOwner Code = "not_owner"
	// CodeLimit: a limit of the task (hops, handoffs, visits, depth) is reached.
	CodeLimit Code = "limit"
	// CodeBudget: a budget of the task is spent.
	CodeBudget Code = "budget"
	// CodeUnavailable: nobody can serve this now; later may work.
	CodeUnavailable Code = "unavailable"
	// CodeCircuitOpen: the receiver's circuit is open; the message names when it resets.
	CodeCircuitOpen Code = "circuit_open"
	// CodeExpired: the time for this is over.
	CodeExpired Code = "expired"
	// CodeUnknown: it may or may not have happened; repeat with the same key.
	CodeUnknown Code = "unknown"
)

var codes = []Code{
	CodeUnauthenticated, CodeNotPermitted, CodeNotFound, CodeInvalid, CodeTooLarge,
	CodeConflict, CodeStaleEpoch, CodeNotOwner, CodeLimit, CodeBudget,
	CodeUnavailable, CodeCircuitOpen, CodeExpired, CodeUnknown,
}

// Codes lists every refusal code, in a fixed order. The caller owns the slice.
func Codes() []Code { return slices.Clone(codes) }

// Valid reports whether c is one of Codes.
func (c Code) Valid() bool { return slices.Contains(codes, c) }

// Refusal is the error of every rule that says no. Treat one as immutable:
// it may be shared between goroutines.
type Refusal struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`           // what was refused and why
	Hint    string         `json:"hint,omitempty"`    // what to do next
	Details map[string]any `json:"details,omitempty"` // the same as data, for programs
}

// Refuse makes a Refusal. The hint says what the caller should do next; format
// and args make the message as in fmt.Sprintf.
func Refuse(code Code, hint string, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// With returns a copy of r that carries one more detail.
func (r *Refusal) With(key string, value any) *Refusal {
	c := *r
	c.Details = maps.Clone(r.Details)
	if c.Details == nil {
		c.Details = make(map[string]any, 1)
	}
	c.Details[key] = value
	return &c
}

// Error gives code, message and hint on one line.
func (r *Refusal) Error() string {
	s := string(r.Code) + ": " + r.Message
	if r.Hint != "" {
		s += " (" + r.Hint + ")"
	}
	return s
}

// Is makes errors.Is(err, &Refusal{Code: c}) true for every refusal with that code.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code && t.Message == "" && t.Hint == ""
}

// AsRefusal finds the Refusal in err's chain, if there is one.
func AsRefusal(err error) (*Refusal, bool) {
	return errors.AsType[*Refusal](err)
}

// CodeOf is the code of the Refusal in err's chain, or "" when there is none.
func CodeOf(err error) Code {
	if r, ok := AsRefusal(err); ok {
		return r.Code
	}
	return ""
}
