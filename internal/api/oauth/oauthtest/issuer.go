package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Claims are the claims of a token by name. A nil value omits a claim.
type Claims map[string]any

// Issuer is a token issuer. It is safe for concurrent use.
type Issuer struct {
	*httptest.Server
	t     testing.TB
	mu    sync.Mutex
	keys  []jose.JSONWebKey // private; the last one signs
	bad   http.HandlerFunc
	paths map[string]int

	signIn signIn
}

// New returns an issuer with one key.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t, paths: map[string]int{}}
	i.Server = httptest.NewServer(http.HandlerFunc(i.answer))
	t.Cleanup(i.Close)
	i.Rotate()
	return i
}

// Rotate creates a new key for signing, and removes the others.
func (i *Issuer) Rotate() {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.Use(jose.JSONWebKey{Key: k, Algorithm: string(jose.ES256), Use: "sig"})
}

// Use makes a private key the only one.
func (i *Issuer) Use(k jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if k.KeyID == "" {
		k.KeyID = "key-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	}
	i.keys = []jose.JSONWebKey{k}
}

// Misbehave replaces the handler of all requests; nil restores it.
func (i *Issuer) Misbehave(h http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.bad = h
}

// Asked returns how often a path was requested.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.paths[path]
}

// KeysPath is the path of the keys.
const KeysPath = "/keys"

func (i *Issuer) answer(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.paths[r.URL.Path]++
	bad := i.bad
	var public jose.JSONWebKeySet
	for _, k := range i.keys {
		public.Keys = append(public.Keys, k.Public())
	}
	i.mu.Unlock()
	if bad != nil {
		bad(w, r)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		i.write(w, map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + KeysPath, "authorization_endpoint": i.URL + AuthorizePath, "token_endpoint": i.URL + TokenPath,
			"device_authorization_endpoint": i.URL + DevicePath, "revocation_endpoint": i.URL + RevokePath,
		})
	case KeysPath:
		i.write(w, public)
	case AuthorizePath:
		i.authorize(w, r)
	case DevicePath:
		i.device(w, r)
	case TokenPath:
		i.token(w, r)
	case RevokePath:
		i.EndSession()
	default:
		http.NotFound(w, r)
	}
}

func (i *Issuer) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Error(err)
	}
}

// Token signs a valid access token for an agent and a resource, with both scopes and a lifetime of one hour; change replaces claims.
func (i *Issuer) Token(agent, resource string, change Claims) string {
	i.t.Helper()
	i.mu.Lock()
	k := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	now := time.Now()
	c := Claims{
		"iss": i.URL, "sub": agent, "aud": resource, "scope": "openid trapeze:read trapeze:act", "client_id": "tests",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": strconv.FormatInt(now.UnixNano(), 36),
	}
	for name, v := range change {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return Sign(i.t, k, map[string]any{"typ": "at+jwt"}, c)
}

// Sign signs claims with a key and its algorithm. An empty header kid names no key.
func Sign(t testing.TB, k jose.JSONWebKey, header map[string]any, c Claims) string {
	t.Helper()
	o := &jose.SignerOptions{}
	for name, v := range header {
		o.WithHeader(jose.HeaderKey(name), v)
	}
	var with any = k
	if kid, ok := header["kid"]; ok && kid == "" {
		with = k.Key
		delete(o.ExtraHeaders, "kid")
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(k.Algorithm), Key: with}, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Unsigned returns a token with an algorithm and a signature of the caller's choice.
func Unsigned(t testing.TB, header map[string]any, c Claims, signature []byte) string {
	t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	return part(header) + "." + part(c) + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// Public returns the public key of the issuer.
func (i *Issuer) Public() crypto.PublicKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1].Public().Key
}

// KeyID returns the id of the signing key.
func (i *Issuer) KeyID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1].KeyID
}
