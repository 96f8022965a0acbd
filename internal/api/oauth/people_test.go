package oauth_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// ann is a person of two groups.
func ann(change oauthtest.Claims) oauthtest.Claims {
	c := oauthtest.Claims{"preferred_username": "Ann@example.org", "groups": []string{"staff", "ops"}}
	for name, v := range change {
		c[name] = v
	}
	return c
}

func withPeople(rules ...string) func(*oauth.Config) {
	return func(c *oauth.Config) {
		c.People = oauth.People{Client: oauthtest.Client, Domain: "example.org"}
		for _, text := range rules {
			r, err := oauth.ParseRule(text)
			if err != nil {
				panic(err)
			}
			c.People.Roles = append(c.People.Roles, r)
		}
	}
}

func TestTheFirstRuleOfAGroupSaysWhoAPersonIs(t *testing.T) {
	i := oauthtest.New(t)
	for _, c := range []struct {
		rules  []string
		person oauthtest.Claims
		want   identity.Principal
	}{
		{[]string{"ops=operator"}, ann(nil), identity.Principal{Workspace: "default", Role: "operator", Name: "ann"}},
		{[]string{"admins=admin", "staff=auditor@red", "ops=operator"}, ann(nil), identity.Principal{Workspace: "red", Role: "auditor", Name: "ann"}},
		{[]string{"ops=admin"}, ann(oauthtest.Claims{"preferred_username": "Ann.Lee@Example.org"}), identity.Principal{Workspace: "default", Role: "admin", Name: "ann.lee"}},
		{[]string{"a=b=operator"}, ann(oauthtest.Claims{"groups": "a=b"}), identity.Principal{Workspace: "default", Role: "operator", Name: "ann"}},
	} {
		v, _ := verifier(t, i, withPeople(c.rules...))
		got, err := v.Vouch(t.Context(), i.IDToken(c.person, time.Minute, nil))
		if err != nil {
			t.Errorf("%v: %v", c.rules, err)
			continue
		}
		if p := (identity.Principal{Workspace: got.Workspace, Role: got.Role, Name: got.Name}); p != c.want || !got.SignIn || got.Expires.IsZero() {
			t.Errorf("%v: %+v, not %+v", c.rules, got, c.want)
		}
	}
}

func TestASignInThatNamesNobodyHereIsRefused(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, withPeople("ops=operator"))
	refusedWith(t, v, i.IDToken(ann(oauthtest.Claims{"groups": []string{"staff"}}), time.Minute, nil), refusal.NotPermitted)
	refusedWith(t, v, i.IDToken(ann(oauthtest.Claims{"groups": nil}), time.Minute, nil), refusal.NotPermitted)
	for what, change := range map[string]oauthtest.Claims{
		"another client":                 {"aud": "another"},
		"asked for by another client":    {"azp": "another"},
		"several audiences and no azp":   {"aud": []string{oauthtest.Client, "another"}},
		"an access token's client":       {"client_id": "another"},
		"an address of another domain":   {"preferred_username": "ann@example.com"},
		"a domain that ends as ours":     {"preferred_username": "ann@evil-example.org"},
		"no name":                        {"preferred_username": nil},
		"a name without a domain":        {"preferred_username": "ann"},
		"an address within an address":   {"preferred_username": "ann@example.com@example.org"},
		"a name that is no name":         {"preferred_username": "../ann@example.org"},
		"a name in another script":       {"preferred_username": "\u0430nn@example.org"},
		"a name with the Kelvin sign":    {"preferred_username": "\u212aate@example.org"},
		"expired":                        {"exp": time.Now().Add(-time.Minute).Unix()},
		"bound to a key":                 {"cnf": map[string]string{"jkt": "x"}},
		"another issuer":                 {"iss": "https://issuer.example.com"},
		"a subject that is empty":        {"sub": nil},
		"an authorized party beside one": {"aud": []string{oauthtest.Client, "another"}, "azp": "another"},
	} {
		if r := refusedWith(t, v, i.IDToken(ann(nil), time.Minute, change), refusal.Unauthenticated); r == nil {
			t.Error(what)
		}
	}
	bare, _ := verifier(t, i, func(c *oauth.Config) {
		withPeople("ops=operator")(c)
		c.People.Domain = ""
	})
	refusedWith(t, bare, i.IDToken(ann(nil), time.Minute, nil), refusal.Unauthenticated)
	if got, err := bare.Vouch(t.Context(), i.IDToken(ann(nil), time.Minute, oauthtest.Claims{"preferred_username": "Ann"})); err != nil || got.Name != "ann" {
		t.Errorf("names are no addresses: %+v, %v", got, err)
	}
	none, _ := verifier(t, i, nil)
	refusedWith(t, none, i.IDToken(ann(nil), time.Minute, nil), refusal.Unauthenticated)
}

func TestAnUnverifiedAddressIsNoName(t *testing.T) {
	i := oauthtest.New(t)
	v, _ := verifier(t, i, func(c *oauth.Config) {
		withPeople("ops=operator")(c)
		c.People.Name = "email"
	})
	mail := oauthtest.Claims{"email": "ann@example.org"}
	refusedWith(t, v, i.IDToken(ann(mail), time.Minute, nil), refusal.Unauthenticated)
	refusedWith(t, v, i.IDToken(ann(mail), time.Minute, oauthtest.Claims{"email_verified": "true"}), refusal.Unauthenticated) // a text
	if got, err := v.Vouch(t.Context(), i.IDToken(ann(mail), time.Minute, oauthtest.Claims{"email_verified": true})); err != nil || got.Name != "ann" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAccessTokensNamePeopleWhereTheConfigurationSaysSo(t *testing.T) {
	i := oauthtest.New(t)
	token := i.Token("writer", resource, ann(nil))
	v, _ := verifier(t, i, nil)
	if got, err := v.Vouch(t.Context(), token); err != nil || got.Role != identity.Agent || got.Name != "writer" || got.Person != "" {
		t.Errorf("without rules: %+v, %v", got, err)
	}
	v, _ = verifier(t, i, withPeople("ops=operator"))
	if got, err := v.Vouch(t.Context(), token); err != nil || got.Role != identity.Operator || got.Name != "ann" || got.SignIn || len(got.Scopes) != 2 {
		t.Errorf("with a rule: %+v, %v", got, err)
	}
	v, _ = verifier(t, i, func(c *oauth.Config) { c.Person = "person" })
	got, err := v.Vouch(t.Context(), i.Token("writer", resource, oauthtest.Claims{"person": "ann"}))
	if err != nil || got.Role != identity.Agent || got.Name != "writer" || got.Person != "ann" {
		t.Errorf("with a person at the client: %+v, %v", got, err)
	}
	if got, err := v.Vouch(t.Context(), i.Token("writer", resource, nil)); err != nil || got.Person != "" {
		t.Errorf("without a person: %+v, %v", got, err)
	}
	for _, person := range []any{"writer", "Ann Lee", "", 7} {
		refusedWith(t, v, i.Token("writer", resource, oauthtest.Claims{"person": person}), refusal.Unauthenticated)
	}
}

func TestRulesOfPeopleAreChecked(t *testing.T) {
	for _, text := range []string{"", "ops", "=operator", "ops=", "ops=agent", "ops=system", "ops=root", "ops=operator@", "ops=operator@Red", "ops=operator@a/b"} {
		if r, err := oauth.ParseRule(text); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	rule, err := oauth.ParseRule("https://example.org/ops=operator@red")
	if err != nil || rule != (oauth.Rule{Group: "https://example.org/ops", Role: identity.Operator, Workspace: "red"}) {
		t.Errorf("%+v, %v", rule, err)
	}
	for _, p := range []oauth.People{
		{Client: "trapeze"},
		{Secret: "secret", Roles: []oauth.Rule{rule}},
		{Client: "trapeze", Roles: []oauth.Rule{rule}, Scopes: []string{"profile"}},
		{Client: "trapeze", Roles: []oauth.Rule{rule}, Domain: "@example.org"},
		{Client: "trapeze", Roles: []oauth.Rule{rule}, Groups: "the groups"},
		{Roles: []oauth.Rule{{Role: identity.Operator, Workspace: "default"}}},
	} {
		c := oauth.Config{Issuer: "https://issuer.example.org", Resource: resource, People: p}
		if err := c.Check(); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
