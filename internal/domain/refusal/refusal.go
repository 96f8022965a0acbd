package refusal

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/help"
)

// Code says what sort of refusal this is. The set is closed: every API
// maps each code exactly once, and a code outside Codes is a bug.
type Code string

// The refusal codes.
const (
	// Unauthenticated: no credential, or one that no longer counts.
	Unauthenticated Code = "unauthenticated"
	// NotPermitted: the credential is good but may not do this.
	NotPermitted Code = "not_permitted"
	// NotFound: no such thing, or none that the caller may see.
	NotFound Code = "not_found"
	// Invalid: the request is malformed or breaks a rule on its own.
	Invalid Code = "invalid"
	// TooLarge: a size limit is exceeded.
	TooLarge Code = "too_large"
	// Conflict: the present state, or the way this server is set up, does not allow this; to repeat it unchanged does not help until
	// somebody has changed that.
	Conflict Code = "conflict"
	// StaleEpoch: ownership has moved since the caller last looked.
	StaleEpoch Code = "stale_epoch"
	// NotOwner: only the task's owner may do this.
	NotOwner Code = "not_owner"
	// Limit: a limit of the task (hops, handoffs, visits, depth) or of a principal is reached.
	Limit Code = "limit"
	// Budget: what the task may spend is spent, or a token budget is too small for what must be in it: a prompt, a page.
	Budget Code = "budget"
	// Unavailable: nobody can serve this now; to repeat it later may help by itself. Clients do.
	Unavailable Code = "unavailable"
	// Overloaded: the caller has more under way than its share; the message says of what, and the hint when to try again.
	Overloaded Code = "overloaded"
	// CircuitOpen: the receiver's circuit is open; the message names when it resets.
	CircuitOpen Code = "circuit_open"
	// Expired: the time for this is over.
	Expired Code = "expired"
	// Unknown: it may or may not have happened; repeat with the same key.
	Unknown Code = "unknown"
)

var codes = []Code{
	Unauthenticated, NotPermitted, NotFound, Invalid, TooLarge,
	Conflict, StaleEpoch, NotOwner, Limit, Budget,
	Unavailable, Overloaded, CircuitOpen, Expired, Unknown,
}

// Codes lists every refusal code, in a fixed order. The caller owns the slice.
func Codes() []Code { return slices.Clone(codes) }

// Valid reports whether c is one of Codes.
func (c Code) Valid() bool { return slices.Contains(codes, c) }

// Error is the error of every rule that refuses a command. Treat one as immutable:
// it may be shared between goroutines.
type Error struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`           // what was refused and why
	Hint    string         `json:"hint,omitempty"`    // what to do next
	Details map[string]any `json:"details,omitempty"` // the same as data, for programs
	Helps   []help.Help    `json:"helps,omitempty"`   // what helps, in the order of the hint
}

// New makes a refusal. The hint says what the caller should do next, with links to what helps, see [help.Parse]: a link that has no id has one of
// args. Format and args make the message as in fmt.Sprintf.
func New(code Code, hint string, format string, args ...any) *Error {
	r := &Error{Code: code, Message: fmt.Sprintf(format, args...)}
	r.Hint, r.Helps = help.Parse(hint, args...)
	return r
}

// Saying returns a copy of r with another message.
func (r *Error) Saying(format string, args ...any) *Error {
	c := *r
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// Hinting returns a copy of r with another hint; the ids that its links lack are among about.
func (r *Error) Hinting(hint string, about ...any) *Error {
	c := *r
	c.Hint, c.Helps = help.Parse(hint, about...)
	return &c
}

// With returns a copy of r that carries one more detail.
func (r *Error) With(key string, value any) *Error {
	c := *r
	c.Details = maps.Clone(r.Details)
	if c.Details == nil {
		c.Details = make(map[string]any, 1)
	}
	c.Details[key] = value
	return &c
}

// In returns err with the field of the call that is wrong as its detail "field", in the names of the API: pins in pack is pack.pins. A field that
// err names already is below that field. Errors that are no refusals are returned as they are.
func In(field string, err error) error {
	r, ok := As(err)
	if !ok {
		return err
	}
	if below, ok := r.Details["field"].(string); ok {
		field += "." + below
	}
	return r.With("field", field)
}

// WithAll returns a copy of r that carries more details.
func (r *Error) WithAll(details map[string]any) *Error {
	c := *r
	c.Details = make(map[string]any, len(r.Details)+len(details))
	maps.Copy(c.Details, r.Details)
	maps.Copy(c.Details, details)
	return &c
}

// Error gives code, message and hint on one line.
func (r *Error) Error() string {
	s := string(r.Code) + ": " + r.Message
	if r.Hint != "" {
		s += " (" + r.Hint + ")"
	}
	return s
}

// Is makes errors.Is(err, &Error{Code: c}) true for every refusal with that code.
func (r *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == r.Code && t.Message == "" && t.Hint == ""
}

// As finds the refusal in err's chain, if there is one.
func As(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}

// CodeOf is the code of the refusal in err's chain, or "" when there is none.
func CodeOf(err error) Code {
	if r, ok := As(err); ok {
		return r.Code
	}
	return ""
}
