package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// Limits of keys.
const (
	maxKeys = 100
	minRSA  = 2048 // bits
	maxRSA  = 8192
)

// key is a public key of the issuer.
type key = jose.JSONWebKey

// keySet is the set of keys at a time. It is immutable.
type keySet struct {
	keys  []key
	found metadata // where they were found
	at    time.Time
}

// parseKeys reads a key set (RFC 7517). It omits keys that cannot sign tokens: other kinds and uses, weak keys, and secrets.
func parseKeys(b []byte) ([]key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("its keys: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it has %d keys; the limit is %d", len(set.Keys), maxKeys)
	}
	var list []key
	for _, raw := range set.Keys {
		var k key
		if json.Unmarshal(raw, &k) == nil && (k.Use == "" || k.Use == "sig") && k.Valid() && sound(k) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("it has no key that can sign a token")
	}
	return list, nil
}

// sound reports whether a key is public and strong enough.
func sound(k key) bool {
	switch p := k.Key.(type) {
	case *rsa.PublicKey:
		return p.N.BitLen() >= minRSA && p.N.BitLen() <= maxRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// fits reports whether a key can sign with an algorithm.
func fits(k key, alg string) bool {
	if k.Algorithm != "" && k.Algorithm != alg {
		return false
	}
	switch p := k.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return map[string]string{oidc.ES256: "P-256", oidc.ES384: "P-384", oidc.ES512: "P-521"}[alg] == p.Curve.Params().Name
	case ed25519.PublicKey:
		return alg == oidc.EdDSA
	}
	return false
}

// candidates returns the keys that may have signed a token: the one it names, or all that fit if it names none.
func (s *keySet) candidates(head claims) []key {
	id, alg := head.text("kid"), head.text("alg")
	return slices.DeleteFunc(slices.Clone(s.keys), func(k key) bool { return id != "" && k.KeyID != id || !fits(k, alg) })
}

// keyring checks the signature of one token. It is an [oidc.KeySet].
type keyring struct {
	issuer *issuer
	head   claims
	err    error // why the keys cannot be fetched, or are not those of the token
}

var _ oidc.KeySet = (*keyring)(nil)

// VerifySignature returns the signed payload. An unknown key may be new: the keys are fetched again for later calls, and this one is refused, since
// anybody can name a key.
func (r *keyring) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, signatureAlgorithms())
	if err != nil {
		return nil, err
	}
	set, err := r.issuer.current(ctx)
	if err != nil {
		r.err = err
		return nil, err
	}
	known := set.candidates(r.head)
	for _, k := range known {
		if payload, err := signed.Verify(k.Key); err == nil {
			return payload, nil
		}
	}
	if r.head.text("kid") == "" || len(known) == 0 {
		r.issuer.refresh(set)
		r.err = refused(fmt.Sprintf("if the issuer has a new key, repeat the call in %s; otherwise get a new token", askEvery),
			"no key of the issuer %s that this server knows has signed the token", r.issuer.url)
		return nil, r.err
	}
	return nil, errors.New("no key of the issuer has signed the token")
}

func signatureAlgorithms() []jose.SignatureAlgorithm {
	list := make([]jose.SignatureAlgorithm, len(algorithms))
	for i, a := range algorithms {
		list[i] = jose.SignatureAlgorithm(a)
	}
	return list
}
