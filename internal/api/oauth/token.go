package oauth

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// maxToken is the maximum length of a token, in bytes.
const maxToken = 16 << 10

// claims are the claims of a token by name. Names are case-sensitive.
type claims map[string]json.RawMessage

// text returns a claim that is a string, or "".
func (c claims) text(name string) string {
	var s string
	if c[name] == nil || json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// list returns a claim that is a string or an array of strings, or nil.
func (c claims) list(name string) []string {
	if s := c.text(name); s != "" {
		return []string{s}
	}
	var l []string
	if c[name] == nil || json.Unmarshal(c[name], &l) != nil {
		return nil
	}
	return l
}

// time returns a claim that is a time in seconds since 1970, and whether the claim exists.
func (c claims) time(name string) (_ time.Time, ok bool, err error) {
	if c[name] == nil {
		return time.Time{}, false, nil
	}
	var n float64
	if err := json.Unmarshal(c[name], &n); err != nil {
		return time.Time{}, true, err
	}
	const last = 253_402_300_799 // end of the year 9999
	return time.Unix(int64(min(max(n, 0), last)), 0).UTC(), true, nil
}

// scopes returns the values of the claim scope (RFC 9068), or of scp, which some issuers use.
func (c claims) scopes() []string {
	words := c.list("scope")
	if len(words) == 0 {
		words = c.list("scp")
	}
	return strings.Fields(strings.Join(words, " "))
}

// peek reads a token without verifying it.
func peek(token string) (head, said claims, err error) {
	const hint = "this server verifies tokens itself: configure the issuer to create access tokens that are JSON Web Tokens (RFC 9068), not opaque ones"
	parts := strings.Split(token, ".")
	if len(token) > maxToken {
		return nil, nil, refused(hint, "the token has %d bytes; the limit is %d", len(token), maxToken)
	}
	if len(parts) != 3 || strings.ContainsFunc(token, outsideAlphabet) || !decode(parts[0], &head) || !decode(parts[1], &said) {
		return nil, nil, refused(hint, "the token is neither a token of this server nor a JSON Web Token")
	}
	return head, said, nil
}

func outsideAlphabet(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// decode reads one part of a token, which must be a JSON object.
func decode(part string, c *claims) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, c) == nil && *c != nil
}

// checkHead refuses algorithms and types of tokens that are not accepted.
func checkHead(head claims) error {
	if alg := head.text("alg"); !slices.Contains(algorithms, alg) {
		return refused("configure the issuer to sign with one of: "+strings.Join(algorithms, ", "), "tokens signed with %.40q are not accepted", alg)
	}
	if typ := head.text("typ"); !slices.Contains(types, strings.ToLower(typ)) {
		return refused("send an access token", "the token is of type %.40q, which is not an access token", typ)
	}
	if head["crit"] != nil {
		return refused("configure the issuer to omit crit", "the token has a critical header (crit) that this server does not support")
	}
	return nil
}
