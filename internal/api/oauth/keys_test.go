package oauth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestANewKeyOfTheIssuerCountsOnceItIsLookedUpAndAnOldOneNoMore(t *testing.T) {
	i := oauthtest.New(t)
	v, at := verifier(t, i, nil)
	old := i.Token("writer", resource, nil)
	if _, err := v.Vouch(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	i.Rotate()
	at.pass(10 * time.Second)
	fresh := i.Token("writer", resource, nil)
	r := refusedWith(t, v, fresh, refusal.Unauthenticated)
	if !strings.Contains(r.Message, "no key of the issuer "+i.URL) || !strings.Contains(r.Hint, "repeat the call in 10s") {
		t.Errorf("%s; %s", r.Message, r.Hint)
	}
	v.Settle()
	if _, err := v.Vouch(t.Context(), fresh); err != nil {
		t.Errorf("a token signed with the new key: %v", err)
	}
	refusedWith(t, v, old, refusal.Unauthenticated)
	at.pass(11 * time.Minute) // a key that was withdrawn is forgotten even if nobody brings a new one
	if _, err := v.Vouch(t.Context(), i.Token("writer", resource, nil)); err != nil {
		t.Fatal(err)
	}
	if n := i.Asked(oauthtest.KeysPath); n != 3 {
		t.Errorf("the keys were asked for %d times", n)
	}
}

func TestTokensThatNameUnknownKeysDoNotMakeTheIssuerBusy(t *testing.T) {
	i, other := oauthtest.New(t), oauthtest.New(t)
	v, at := verifier(t, i, nil)
	good := i.Token("writer", resource, nil)
	if _, err := v.Vouch(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	junk := func() {
		t.Helper()
		for range 100 {
			refusedWith(t, v, other.Token("writer", resource, oauthtest.Claims{"iss": i.URL}), refusal.Unauthenticated)
		}
	}
	at.pass(10 * time.Second)
	junk()
	v.Settle()
	junk()
	if n := i.Asked(oauthtest.KeysPath); n != 2 {
		t.Errorf("the keys were asked for %d times", n)
	}
	if _, err := v.Vouch(t.Context(), good); err != nil {
		t.Errorf("a good token meanwhile: %v", err)
	}
	i.Rotate() // what anybody names does not keep the new key from being known
	at.pass(10 * time.Second)
	junk()
	v.Settle()
	if _, err := v.Vouch(t.Context(), i.Token("writer", resource, nil)); err != nil {
		t.Errorf("a new key after a while: %v", err)
	}
}

// Anybody can name a key that nobody knows: no call waits for an issuer that does not answer then, and none is told to come again.
func TestNobodyWaitsForTheLookupOfAnUnknownKey(t *testing.T) {
	i, other := oauthtest.New(t), oauthtest.New(t)
	v, at := verifier(t, i, nil)
	good := i.Token("writer", resource, nil)
	if _, err := v.Vouch(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	i.Misbehave(func(http.ResponseWriter, *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-answer
	})
	at.pass(10 * time.Second)
	for range 10 { // each is answered while the issuer is not
		refusedWith(t, v, other.Token("writer", resource, oauthtest.Claims{"iss": i.URL}), refusal.Unauthenticated)
		if _, err := v.Vouch(t.Context(), good); err != nil {
			t.Error(err)
		}
	}
	<-asked
	close(answer)
}
