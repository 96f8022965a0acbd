package identity

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Scope is what a token of an outside issuer may be used for, of what its principal's role may do.
type Scope string

// The scopes.
const (
	ScopeRead Scope = "trapeze:read" // looking; nothing changes by it
	ScopeAct  Scope = "trapeze:act"  // everything that the role may do, looking included
)

// AllScopes lists every scope.
func AllScopes() []Scope { return []Scope{ScopeRead, ScopeAct} }

// Allows reports whether a scope permits a class of things. A scope outside the closed set permits nothing.
func (s Scope) Allows(v Permission) bool {
	switch s {
	case ScopeRead:
		return v == ReadOwn || v == ReadAny || v == ReadAudit
	case ScopeAct:
		return true
	}
	return false
}

// Scopes are those that a token has.
type Scopes []Scope

// ParseScopes finds the scopes among words that an issuer wrote; those of other servers are left out.
func ParseScopes(words []string) Scopes {
	var list Scopes
	for _, s := range AllScopes() {
		if slices.Contains(words, string(s)) {
			list = append(list, s)
		}
	}
	return list
}

// Allow reports whether one of the scopes permits a class of things.
func (s Scopes) Allow(v Permission) bool {
	return slices.ContainsFunc(s, func(one Scope) bool { return one.Allows(v) })
}

// Require refuses (not_permitted, with the scope that is needed as its detail "scope") what no scope permits.
func (s Scopes) Require(p Principal, v Permission, what string) error {
	if s.Allow(v) {
		return nil
	}
	need := ScopeRead // the first that permits it asks for the least
	if !need.Allows(v) {
		need = ScopeAct
	}
	have := "no scope of this server"
	if len(s) > 0 {
		have = "the scope " + s.String() + " alone"
	}
	return refusal.New(refusal.NotPermitted, "ask the issuer for a token with the scope "+string(need),
		"the token of %s has %s, and may not %s", p, have, what).With("scope", string(need))
}

// String is the scopes with a space between, as OAuth writes them.
func (s Scopes) String() string {
	words := make([]string, len(s))
	for i, one := range s {
		words[i] = string(one)
	}
	return strings.Join(words, " ")
}
