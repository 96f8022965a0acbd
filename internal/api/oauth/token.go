package oauth

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// maxToken is the most bytes that a token may have.
const maxToken = 16 << 10

// claims are what a token says, by name. Names count as they are written: another spelling is another claim.
type claims map[string]json.RawMessage

// text is a claim that is a string; empty if it is not one.
func (c claims) text(name string) string {
	var s string
	if c[name] == nil || json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// list is a claim that is a string or an array of them; nil if it is neither.
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

// time is a claim that is a time, in seconds since 1970, and whether it is there.
func (c claims) time(name string) (_ time.Time, ok bool, err error) {
	if c[name] == nil {
		return time.Time{}, false, nil
	}
	var n float64
	if err := json.Unmarshal(c[name], &n); err != nil {
		return time.Time{}, true, err
	}
	const last = 253_402_300_799 // of the year 9999
	return time.Unix(int64(min(max(n, 0), last)), 0).UTC(), true, nil
}

// scopes are the words of the claim scope (RFC 9068), or of scp, as some issuers have it.
func (c claims) scopes() []string {
	words := c.list("scope")
	if len(words) == 0 {
		words = c.list("scp")
	}
	return strings.Fields(strings.Join(words, " "))
}

// peek reads a token without believing any of it.
func peek(token string) (head, said claims, err error) {
	const hint = "this server checks tokens itself: have the issuer make access tokens that are JSON Web Tokens (RFC 9068), not opaque ones"
	parts := strings.Split(token, ".")
	if len(token) > maxToken {
		return nil, nil, refused(hint, "a token of %d bytes is too long, at most %d are taken", len(token), maxToken)
	}
	if len(parts) != 3 || strings.ContainsFunc(token, outsideAlphabet) || !decode(parts[0], &head) || !decode(parts[1], &said) {
		return nil, nil, refused(hint, "this is neither a token of this server nor a JSON Web Token")
	}
	return head, said, nil
}

func outsideAlphabet(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// decode reads one part of a token, which must be an object.
func decode(part string, c *claims) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, c) == nil && *c != nil
}

// checkHead refuses what is signed in a way, or meant for a purpose, that does not count here.
func checkHead(head claims) error {
	if alg := head.text("alg"); !slices.Contains(algorithms, alg) {
		return refused("have the issuer sign with "+strings.Join(algorithms, ", "), "tokens signed with %.40q do not count", alg)
	}
	if typ := head.text("typ"); !slices.Contains(types, strings.ToLower(typ)) {
		return refused("send an access token", "the token is of type %.40q, which is no access token", typ)
	}
	if head["crit"] != nil {
		return refused("have the issuer leave crit out", "the token has a header that must be understood and is not")
	}
	return nil
}
