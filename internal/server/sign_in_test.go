package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
)

// withIssuer is the configuration of a server at which the operators of an issuer sign in.
func withIssuer(t *testing.T, i *oauthtest.Issuer, roles ...string) Config {
	t.Helper()
	people, err := People(PeopleText{Client: oauthtest.Client, Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	return Config{Temporary: true, Clock: NewClock(time.Time{}), OAuth: oauth.Config{Issuer: i.URL, Resource: "http://localhost:8727/mcp", People: people}}
}

// personOf are the claims of a person in groups.
func personOf(name string, groups ...string) oauthtest.Claims {
	return oauthtest.Claims{"preferred_username": name, "groups": groups}
}

// atIssuer follows a redirect to the issuer, and returns the path of this server to which it sends the browser back.
func atIssuer(t *testing.T, begun seen) string {
	t.Helper()
	if begun.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", begun.status, begun.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, begun.header.Get("Location"), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusFound || back.Scheme+"://"+back.Host != "http://localhost:8727" {
		t.Fatalf("%s sends back to %s, %v", res.Status, back, err)
	}
	return back.RequestURI()
}

func TestPeopleSignInAtAnIssuerAndTheirSessionEndsWithItsOwn(t *testing.T) {
	i := oauthtest.New(t)
	var log bytes.Buffer
	c := withIssuer(t, i, "ops=operator")
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, _ := forTests(t, c)
	i.SignIn(personOf("ann", "ops"), time.Hour)
	r := newReader(t, s)
	if body := r.get("/sign-in?next=%2Finbox", http.StatusOK); !strings.Contains(body, `href="/sign-in/issuer?next=%2Finbox"`) || !strings.Contains(body, "Sign in at 127.0.0.1") {
		t.Error(body)
	}
	back := atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer?next=%2Finbox", ""))
	newReader(t, s).get(back, http.StatusForbidden) // another browser did not begin it
	if body := r.get(back, http.StatusOK); !strings.Contains(body, `href="/inbox"`) {
		t.Error(body)
	}
	if body := r.get("/inbox", http.StatusOK); !strings.Contains(body, "ann") {
		t.Error(body)
	}
	r.get(back, http.StatusForbidden) // once

	// When the token is over, the issuer is asked again, which knows the person for as long as its own session lasts.
	if _, err := s.Advance(t.Context(), time.Hour+time.Second); err != nil {
		t.Fatal(err)
	}
	if got := r.do(http.MethodPost, "/dead", "verb=discard"); got.status != http.StatusUnauthorized {
		t.Errorf("a form after the session: %d", got.status)
	}
	if got := r.do(http.MethodGet, "/inbox", "", "Sec-Fetch-Mode", "cors"); got.header.Get("Location") != "/sign-in?next=%2Finbox" {
		t.Errorf("a script is sent to %s", got.header.Get("Location"))
	}
	if got := r.do(http.MethodGet, "/inbox", ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/sign-in/issuer?next=%2Finbox" {
		t.Errorf("%d to %s", got.status, got.header.Get("Location"))
	}
	i.SignIn(personOf("ann", "ops"), 3*time.Hour)
	r.get(atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer?next=%2Finbox", "")), http.StatusOK)
	r.get("/inbox", http.StatusOK)
	i.EndSession()
	if _, err := s.Advance(t.Context(), 3*time.Hour); err != nil {
		t.Fatal(err)
	}
	if body := r.get(atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer", "")), http.StatusForbidden); !strings.Contains(body, "did not sign you in") {
		t.Error(body)
	}
	r.do(http.MethodPost, "/sign-out", "")
	if got := r.do(http.MethodGet, "/inbox", ""); got.header.Get("Location") != "/sign-in?next=%2Finbox" {
		t.Errorf("after signing out, to %s", got.header.Get("Location"))
	}
	_, code, _ := strings.Cut(back, "code=")
	code, _, _ = strings.Cut(code, "&")
	if strings.Contains(log.String(), "eyJ") || code == "" || strings.Contains(log.String(), code) {
		t.Errorf("the log has a token or a code:\n%s", log.String())
	}
}

func TestASignInThatSomebodyTamperedWithIsRefused(t *testing.T) {
	i := oauthtest.New(t)
	s, _ := forTests(t, withIssuer(t, i, "ops=operator"))
	i.SignIn(personOf("ann", "ops"), time.Hour)
	for _, next := range []string{"https://evil.example/", "//evil.example/x", `/\evil.example`, "javascript:alert(1)"} {
		r := newReader(t, s)
		body := r.get(atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer?next="+url.QueryEscape(next), "")), http.StatusOK)
		if !strings.Contains(body, `id="go" class="button" href="/"`) || strings.Contains(body, "evil") {
			t.Errorf("%s: %s", next, body)
		}
	}
	for what, change := range map[string]func(q url.Values){
		"another state":     func(q url.Values) { q.Set("state", strings.Repeat("A", 26)) },
		"no state":          func(q url.Values) { q.Del("state") },
		"another code":      func(q url.Values) { q.Set("code", "guess") },
		"no code":           func(q url.Values) { q.Del("code") },
		"an error":          func(q url.Values) { q.Set("error", "access_denied") },
		"of another issuer": func(q url.Values) { q.Set("iss", "https://issuer.example.com") },
	} {
		r := newReader(t, s)
		path, query, _ := strings.Cut(atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer", "")), "?")
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		change(q)
		if got := r.do(http.MethodGet, path+"?"+q.Encode(), ""); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", what, got.status)
		}
		r.get("/", http.StatusSeeOther)
	}
	// The code of one attempt with the cookie of another: the verifier and the nonce differ.
	one, other := newReader(t, s), newReader(t, s)
	stolen, err := url.Parse(atIssuer(t, one.do(http.MethodGet, "/sign-in/issuer", "")))
	if err != nil {
		t.Fatal(err)
	}
	own, err := url.Parse(atIssuer(t, other.do(http.MethodGet, "/sign-in/issuer", "")))
	if err != nil {
		t.Fatal(err)
	}
	q := own.Query()
	q.Set("code", stolen.Query().Get("code"))
	other.get(own.Path+"?"+q.Encode(), http.StatusForbidden)

	late := newReader(t, s)
	back := atIssuer(t, late.do(http.MethodGet, "/sign-in/issuer", ""))
	if _, err := s.Advance(t.Context(), 11*time.Minute); err != nil {
		t.Fatal(err)
	}
	late.get(back, http.StatusForbidden)
	i.SignIn(personOf("eve", "staff"), 2*time.Hour)
	eve := newReader(t, s)
	if body := eve.get(atIssuer(t, eve.do(http.MethodGet, "/sign-in/issuer", "")), http.StatusForbidden); !strings.Contains(body, "none of their groups has a role here") {
		t.Error(body)
	}
	plain, _ := forTests(t, Config{Temporary: true})
	newReader(t, plain).get("/sign-in/issuer", http.StatusNotFound)
	newReader(t, plain).get("/sign-in/back?code=x&state=y", http.StatusForbidden)
}

func TestALongTokenHasASessionInSeveralCookies(t *testing.T) {
	i := oauthtest.New(t)
	s, _ := forTests(t, withIssuer(t, i, "ops=operator"))
	r := newReader(t, s)
	for _, bytes := range []int{6000, 10} { // a shorter one leaves nothing of a longer one
		person := personOf("ann", "ops")
		person["more"] = strings.Repeat("x", bytes)
		i.SignIn(person, time.Hour)
		r.get(atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer", "")), http.StatusOK)
		r.get("/", http.StatusOK)
	}
	home, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if kept := r.http.Jar.Cookies(home); len(kept) != 1 {
		t.Errorf("%d cookies of a short token", len(kept))
	}
	person := personOf("ann", "ops")
	person["more"] = strings.Repeat("x", 10000)
	i.SignIn(person, time.Hour)
	if got := r.do(http.MethodGet, atIssuer(t, r.do(http.MethodGet, "/sign-in/issuer", "")), ""); got.status != http.StatusForbidden || !strings.Contains(got.body, "too long") {
		t.Errorf("%d: %s", got.status, got.body)
	}
}

func TestAPersonOfAWorkspaceSignsInThereAlone(t *testing.T) {
	i := oauthtest.New(t)
	s, admin := forTests(t, withIssuer(t, i, "red-team=operator@red"))
	red := connect(t, s, i.IDToken(personOf("ann", "red-team"), time.Hour, nil))
	if _, err := red.Me(t.Context()); err == nil || !strings.Contains(err.Error(), "red") {
		t.Errorf("in a workspace that was not made: %v", err)
	}
	if err := admin.Call(t.Context(), http.MethodPost, "/v1/workspaces", nil, map[string]string{"name": "red", "bearer": "bob"}, nil); err != nil {
		t.Fatal(err)
	}
	me, err := red.Me(t.Context())
	if err != nil || me.Workspace != "red" || me.Role != client.RoleOperator || me.Name != "ann" || me.Expires.IsZero() {
		t.Errorf("%+v, %v", me, err)
	}
}

// TestASignInComesBackOnce replays what the browser sent, with the cookie that it had then, at an issuer whose codes count as often as they are sent.
func TestASignInComesBackOnce(t *testing.T) {
	i := oauthtest.New(t)
	s, _ := forTests(t, withIssuer(t, i, "ops=operator"))
	i.SignIn(personOf("ann", "ops"), time.Hour)
	r := newReader(t, s)
	begun := r.do(http.MethodGet, "/sign-in/issuer", "")
	cookie, _, _ := strings.Cut(begun.header.Get("Set-Cookie"), ";")
	back := atIssuer(t, begun)
	for n, want := range []int{http.StatusOK, http.StatusForbidden} {
		got := newReader(t, s).do(http.MethodGet, back+"&iss="+url.QueryEscape(i.URL), "", "Cookie", cookie)
		if got.status != want || want == http.StatusForbidden && !strings.Contains(got.body, "was finished before") {
			t.Errorf("%d: %d %s", n, got.status, got.body)
		}
	}
}

// TestALinkIsForThePersonWhoOpensIt has programs look at the link, and a browser in which somebody else is signed in open it.
func TestALinkIsForThePersonWhoOpensIt(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	link := func(token string) string {
		t.Helper()
		var made struct{ Path string }
		got := newReader(t, s).do(http.MethodPost, "/sign-in/link", "", "Authorization", "Bearer "+token)
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusOK {
			t.Fatal(got)
		}
		return made.Path
	}
	token := func(name string) string {
		t.Helper()
		made, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleOperator, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return made.Text
	}
	path, r := link(token("ann")), newReader(t, s)
	for _, looks := range [][]string{{http.MethodHead}, {http.MethodGet, "Sec-Purpose", "prefetch"}, {http.MethodGet, "Purpose", "prefetch"}, {http.MethodGet, "X-Moz", "prefetch"}} {
		if got := r.do(looks[0], path, "", looks[1:]...); got.header.Get("Set-Cookie") != "" || got.status != http.StatusOK {
			t.Errorf("%q: %d %v", looks, got.status, got.header)
		}
	}
	r.get(path, http.StatusOK)
	if body := r.get("/", http.StatusOK); !strings.Contains(body, "operator/ann") && !strings.Contains(body, "ann") {
		t.Error(body)
	}
	other := link(token("bob"))
	body := r.get(other, http.StatusOK)
	if !strings.Contains(body, "You are signed in as operator/ann") || strings.Contains(body, "Signed in") {
		t.Error(body)
	}
	if body := r.get("/", http.StatusOK); !strings.Contains(body, "ann") || strings.Contains(body, "bob") {
		t.Errorf("the session was replaced without a word: %s", body)
	}
	_, code, _ := strings.Cut(other, "code=")
	if got := r.do(http.MethodPost, "/sign-in", "code="+code); got.status != http.StatusOK || !strings.Contains(got.body, "Signed in") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if body := r.get("/", http.StatusOK); !strings.Contains(body, "bob") {
		t.Error(body)
	}
}

// TestAFormOfAPageWithoutTLSIsRefusedBehindAProxyWithIt sends the origin of a page that somebody on the way could have written.
func TestAFormOfAPageWithoutTLSIsRefusedBehindAProxyWithIt(t *testing.T) {
	s, _ := forTests(t, Config{Temporary: true, BehindProxy: true, Hosts: []string{"trapeze.example.org"}})
	for origin, want := range map[string]int{"http://trapeze.example.org": http.StatusForbidden, "HTTP://trapeze.example.org": http.StatusForbidden, "https://trapeze.example.org": http.StatusSeeOther} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/sign-out", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "trapeze.example.org"
		req.Header.Set("Origin", origin)
		res, err := newReader(t, s).http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", origin, res.StatusCode)
		}
	}
}
