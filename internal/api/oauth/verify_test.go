package oauth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const resource = "https://trapeze.example.org/mcp"

// clock is a clock that the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func verifier(t testing.TB, i *oauthtest.Issuer, change func(*oauth.Config)) (*oauth.Verifier, *clock) {
	t.Helper()
	at := &clock{at: time.Now()}
	c := oauth.Config{Issuer: i.URL, Resource: resource, Now: at.now, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	v, err := oauth.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return v, at
}

func refusedWith(t testing.TB, v *oauth.Verifier, token string, code refusal.Code) *refusal.Error {
	t.Helper()
	got, err := v.Vouch(t.Context(), token)
	r, ok := refusal.As(err)
	if !ok || r.Code != code || r.Hint == "" {
		t.Errorf("%+v, %v; want %s", got, err, code)
		return refusal.New(code, "", "")
	}
	return r
}

func TestAGoodTokenSaysWhomItSpeaksFor(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, nil)
	got, err := v.Vouch(t.Context(), i.Token("writer", resource, oauthtest.Claims{"jti": "j1", "aud": []string{"other", resource}}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Issuer != i.URL || got.Subject != "writer" || got.Name != "writer" || got.Client != "tests" || got.ID != "j1" || got.Scopes.String() != "trapeze:read trapeze:act" {
		t.Errorf("%+v", got)
	}
	if d := time.Until(got.Expires); d < 59*time.Minute || d > time.Hour {
		t.Errorf("expires in %s", d)
	}
	for range 20 {
		if _, err := v.Vouch(t.Context(), i.Token("writer", resource, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := i.Asked(oauthtest.KeysPath); n != 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

func TestAnotherClaimMayNameTheAgent(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, func(c *oauth.Config) { c.Claim = "https://example.org/agent" })
	got, err := v.Vouch(t.Context(), i.Token("0oa|1", resource, oauthtest.Claims{"https://example.org/agent": "writer", "scope": nil, "scp": []string{"trapeze:read", "x"}}))
	if err != nil || got.Name != "writer" || got.Subject != "0oa|1" || got.Scopes.String() != "trapeze:read" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []any{nil, "", 7, []string{"writer"}, "No Name", strings.Repeat("x", 65), map[string]any{"a": "writer"}} {
		refusedWith(t, v, i.Token("writer", resource, oauthtest.Claims{"https://example.org/agent": bad}), refusal.Unauthenticated)
	}
	refusedWith(t, v, i.Token("writer", resource, oauthtest.Claims{"https://EXAMPLE.org/agent": "writer"}), refusal.Unauthenticated)
}

func TestATokenThatIsNotForHereAndNowDoesNotCount(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, nil)
	now := time.Now()
	for name, c := range map[string]oauthtest.Claims{
		"another audience":           {"aud": "https://other.example.org/mcp"},
		"an audience that begins so": {"aud": resource + "/x"},
		"no audience":                {"aud": nil},
		"an audience that is none":   {"aud": 7},
		"another issuer":             {"iss": "https://issuer.example"},
		"no issuer":                  {"iss": nil},
		"its time is over":           {"exp": now.Add(-31 * time.Second).Unix()},
		"no end":                     {"exp": nil},
		"an end that is no time":     {"exp": "tomorrow"},
		"an end before all time":     {"exp": -1e300},
		"a time to come":             {"nbf": now.Add(time.Minute).Unix()},
		"no time":                    {"nbf": "now"},
		"made tomorrow":              {"iat": now.Add(24 * time.Hour).Unix()},
		"no subject":                 {"sub": nil},
		"bound to a key":             {"cnf": map[string]any{"jkt": "x"}},
		"another spelling":           {"iss": nil, "ISS": i.URL},
	} {
		t.Run(name, func(t *testing.T) {
			refusedWith(t, v, i.Token("writer", resource, c), refusal.Unauthenticated)
		})
	}
	if n := i.Asked(oauthtest.KeysPath); n != 0 {
		t.Errorf("the issuer was asked %d times about tokens that were never good", n)
	}
	for name, c := range map[string]oauthtest.Claims{
		"just over": {"exp": now.Add(-20 * time.Second).Unix()}, "just to come": {"nbf": now.Add(20 * time.Second).Unix()}, "no iat": {"iat": nil},
		"a fraction of a second": {"exp": float64(now.UnixMilli())/1000 + 60},
	} {
		if _, err := v.Vouch(t.Context(), i.Token("writer", resource, c)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsNoTokenIsSaidToBeNone(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, nil)
	good := i.Token("writer", resource, nil)
	for name, token := range map[string]string{
		"opaque": "2YotnFZFEjr1zCsicMWpAA", "empty": "", "two parts": "a.b", "four": good + ".x", "no JSON": "YQ.YQ.YQ", "a list": "W10.W10.YQ", "null": "bnVsbA.bnVsbA.YQ",
		"a space": strings.Replace(good, ".", ". ", 1), "a line": good + "\n", "padded": good + "=", "JSON": `{"payload":"","protected":"","signature":""}`,
		"long": strings.Repeat("a", 20_000),
	} {
		if r := refusedWith(t, v, token, refusal.Unauthenticated); !strings.Contains(r.Hint, "JSON Web Token") {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestOnlyTheIssuersSignatureCounts(t *testing.T) {
	i, other := oauthtest.New(t), oauthtest.New(t)
	v, _ := verifier(t, i, nil)
	good := i.Token("writer", resource, nil)
	if _, err := v.Vouch(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	claims := oauthtest.Claims{"iss": i.URL, "sub": "writer", "aud": resource, "exp": time.Now().Add(time.Hour).Unix(), "scope": "trapeze:act"}
	parts := strings.Split(good, ".")
	forged, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(i.Public())
	if err != nil {
		t.Fatal(err)
	}
	es := func(header map[string]any) string {
		return oauthtest.Sign(t, jose.JSONWebKey{Key: forged, Algorithm: "ES256", KeyID: i.KeyID()}, header, claims)
	}
	hs := oauthtest.Unsigned(t, map[string]any{"alg": "HS256", "kid": i.KeyID()}, claims, nil)
	mac := hmac.New(sha256.New, public)
	mac.Write([]byte(strings.TrimSuffix(hs, ".")))
	changed := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(decoded(t, parts[1]), `"writer"`, `"admin"`, 1)))
	for name, token := range map[string]string{
		"none":                            oauthtest.Unsigned(t, map[string]any{"alg": "none"}, claims, nil),
		"None":                            oauthtest.Unsigned(t, map[string]any{"alg": "None"}, claims, nil),
		"no algorithm":                    oauthtest.Unsigned(t, map[string]any{"typ": "at+jwt"}, claims, nil),
		"the public key as a secret":      strings.TrimSuffix(hs, ".") + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"another key of the same name":    es(map[string]any{"typ": "at+jwt"}),
		"another key of no name":          es(map[string]any{"kid": ""}),
		"a key that the token brings":     es(map[string]any{"jwk": jose.JSONWebKey{Key: forged.Public(), Algorithm: "ES256"}}),
		"a key that the token points to":  es(map[string]any{"jku": other.URL + oauthtest.KeysPath}),
		"a header that must be heeded":    oauthtest.Unsigned(t, map[string]any{"alg": "ES256", "kid": i.KeyID(), "crit": []string{"x"}, "x": 1}, claims, make([]byte, 64)),
		"changed claims":                  parts[0] + "." + changed + "." + parts[2],
		"no signature":                    parts[0] + "." + parts[1] + ".",
		"a signature of zeros":            oauthtest.Unsigned(t, map[string]any{"alg": "ES256", "kid": i.KeyID()}, claims, make([]byte, 64)),
		"another algorithm of the family": oauthtest.Unsigned(t, map[string]any{"alg": "ES512", "kid": i.KeyID()}, claims, make([]byte, 132)),
		"another kind of key":             oauthtest.Unsigned(t, map[string]any{"alg": "RS256", "kid": i.KeyID()}, claims, make([]byte, 256)),
		"another issuer's, in its name":   other.Token("writer", resource, oauthtest.Claims{"iss": i.URL}),
		"an identity token's type":        oauthtest.Unsigned(t, map[string]any{"alg": "ES256", "typ": "logout+jwt"}, claims, make([]byte, 64)),
	} {
		t.Run(name, func(t *testing.T) { refusedWith(t, v, token, refusal.Unauthenticated) })
	}
	if n := other.Asked(oauthtest.KeysPath); n != 0 {
		t.Error("a token had the server ask where it said")
	}
}

func decoded(t testing.TB, part string) string {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEveryAlgorithmThatHasNoSecretCounts(t *testing.T) {
	i := oauthtest.New(t)
	v, at := verifier(t, i, nil)
	short, _ := rsa.GenerateKey(rand.Reader, 1024)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	for alg, k := range map[jose.SignatureAlgorithm]any{jose.RS256: long, jose.PS512: long, jose.EdDSA: ed, jose.ES384: p384} {
		i.Use(jose.JSONWebKey{Key: k, Algorithm: string(alg)})
		at.pass(11 * time.Second)
		_, _ = v.Vouch(t.Context(), i.Token("writer", resource, nil)) // the first call, or it brings the new key
		v.Settle()
		if _, err := v.Vouch(t.Context(), i.Token("writer", resource, nil)); err != nil {
			t.Errorf("%s: %v", alg, err)
		}
	}
	if short != nil { // where such a key can still be made
		i.Use(jose.JSONWebKey{Key: short, Algorithm: string(jose.RS256)})
		at.pass(11 * time.Second)
		_, _ = v.Vouch(t.Context(), i.Token("writer", resource, nil))
		v.Settle()
		if _, err := v.Vouch(t.Context(), i.Token("writer", resource, nil)); err == nil {
			t.Error("a key of 1024 bits counted")
		}
	}
}

func TestKeysOutliveTheIssuersAbsenceForAnHour(t *testing.T) {
	i := oauthtest.New(t)
	v, at := verifier(t, i, nil)
	token := i.Token("writer", resource, oauthtest.Claims{"exp": time.Now().Add(10 * time.Hour).Unix()})
	if _, err := v.Vouch(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	i.Close()
	at.pass(59 * time.Minute)
	if _, err := v.Vouch(t.Context(), token); err != nil {
		t.Errorf("after most of an hour: %v", err)
	}
	at.pass(2 * time.Minute)
	refusedWith(t, v, token, refusal.Unavailable)
	at.pass(10 * time.Hour)
	refusedWith(t, v, token, refusal.Unauthenticated) // that it has expired needs no key
}

func TestManyCallersAskOnce(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, nil)
	token := i.Token("writer", resource, nil)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := v.Vouch(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := i.Asked(oauthtest.KeysPath); n != 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

func TestAnIssuerWithoutOpenIDIsFound(t *testing.T) {
	i := oauthtest.New(t)
	var doc map[string]any
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.Public(), KeyID: i.KeyID()}}}
	i.Misbehave(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server/tenant":
			_ = json.NewEncoder(w).Encode(doc)
		case oauthtest.KeysPath:
			_ = json.NewEncoder(w).Encode(set)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	})
	tenant := i.URL + "/tenant"
	doc = map[string]any{"issuer": tenant, "jwks_uri": i.URL + oauthtest.KeysPath}
	v, _ := verifier(t, i, func(c *oauth.Config) { c.Issuer = tenant })
	if _, err := v.Vouch(t.Context(), i.Token("writer", resource, oauthtest.Claims{"iss": tenant})); err != nil {
		t.Error(err)
	}
}

func TestOnlyAPrivateWayToTheIssuerIsTaken(t *testing.T) {
	for _, c := range []oauth.Config{
		{Issuer: "http://issuer.example.org", Resource: resource},
		{Issuer: "https://issuer.example.org?x=1", Resource: resource},
		{Issuer: "https://u:p@issuer.example.org", Resource: resource},
		{Issuer: "issuer.example.org", Resource: resource},
		{Issuer: "file:///etc/passwd", Resource: resource},
		{Issuer: "", Resource: resource},
		{Issuer: "https://issuer.example.org", Resource: ""},
		{Issuer: "https://issuer.example.org", Resource: "http://trapeze.example.org/mcp"},
		{Issuer: "https://issuer.example.org", Resource: resource + "#x"},
		{Issuer: "https://issuer.example.org", Resource: resource, Claim: "two words"},
		{Issuer: "http://127.0.0.1.example.org", Resource: resource},
		{Issuer: "https://", Resource: resource},
		{Issuer: "\x00", Resource: resource},
	} {
		if v, err := oauth.New(c); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%+v: %v, %v", c, v, err)
		}
	}
	for _, c := range []oauth.Config{
		{Issuer: "http://127.0.0.1:9/realms/x", Resource: "http://[::1]:8727/mcp"}, {Issuer: "http://localhost", Resource: "https://trapeze.example.org"},
	} {
		if _, err := oauth.New(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestTheMetadataSayWhereTokensAreHad(t *testing.T) {
	for at, want := range map[string][]string{
		"https://trapeze.example.org/mcp": {"https://trapeze.example.org/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"},
		"https://trapeze.example.org/":    {"https://trapeze.example.org/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource"},
		"http://127.0.0.1:8727/a/mcp":     {"http://127.0.0.1:8727/.well-known/oauth-protected-resource/a/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/a/mcp"},
	} {
		v, err := oauth.New(oauth.Config{Issuer: "https://issuer.example.org/x", Resource: at})
		if err != nil {
			t.Fatal(err)
		}
		m := v.Metadata()
		if got := append([]string{m.URL}, m.Paths...); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q", at, got)
		}
		const doc = `{"authorization_servers":["https://issuer.example.org/x"],"bearer_methods_supported":["header"],"resource":"AT","resource_name":"Trapeze","scopes_supported":["trapeze:read","trapeze:act"]}`
		if string(m.Document) != strings.Replace(doc, "AT", at, 1) {
			t.Errorf("%s", m.Document)
		}
	}
}

func FuzzATokenIsReadOrRefused(f *testing.F) {
	i := oauthtest.New(f)
	v, _ := verifier(f, i, nil)
	f.Add(i.Token("writer", resource, nil))
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		got, err := v.Vouch(t.Context(), token)
		if code := refusal.CodeOf(err); err != nil && code != refusal.Unauthenticated && code != refusal.Unavailable {
			t.Errorf("%v", err)
		}
		if err == nil && !got.Scopes.Allow(identity.ReadOwn) {
			t.Errorf("%+v", got)
		}
	})
}
