package identity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
)

var (
	noon   = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	writer = identity.Principal{Workspace: "default", Role: identity.Agent, Name: "writer"}
)

func random(seed byte) (r [identity.RandomBytes]byte) {
	for i := range r {
		r[i] = seed + byte(i)*7
	}
	return r
}

// created makes a token and returns its state and the secret.
func created(t *testing.T, expires time.Time) (identity.State, string) {
	t.Helper()
	m := identity.Mint(random(1))
	id, secret, err := identity.ParseToken(m.Text)
	if err != nil || id != m.ID {
		t.Fatalf("%q parses as %q, %v", m.Text, id, err)
	}
	return fold(t, identity.State{}, identity.Create{
		ID: m.ID, Hash: m.Hash, Principal: writer, Label: "laptop", ExpiresAt: expires, By: "admin/local",
	}), secret
}

func fold(t *testing.T, s identity.State, c identity.Command) identity.State {
	t.Helper()
	events, err := identity.Decide(s, c, noon)
	if err != nil {
		t.Fatalf("%#v: %v", c, err)
	}
	for _, e := range events {
		s = identity.Fold(s, e)
	}
	return s
}

func TestATokenSpeaksForWhomItWasMade(t *testing.T) {
	s, secret := created(t, time.Time{})
	p, err := identity.Verify(s, secret, noon.Add(100_000*time.Hour))
	if err != nil || p != writer || p.String() != "agent/writer" || p.Agent() != "writer" {
		t.Errorf("%v, %v", p, err)
	}
	if s.CreatedBy != "admin/local" || !s.CreatedAt.Equal(noon) || s.Label != "laptop" {
		t.Errorf("state %+v", s)
	}
	if op := (identity.Principal{Role: identity.Operator, Name: "writer"}); op.Agent() != "" {
		t.Error("an operator speaks for the agent of the same name")
	}
}

func TestTheSecretIsNeverStored(t *testing.T) {
	s, secret := created(t, time.Time{})
	if strings.Contains(fmt.Sprintf("%+v", s), secret) {
		t.Error("the state holds the secret")
	}
}

func TestAWrongSecretAndAnUnknownTokenAreRefusedInTheSameWords(t *testing.T) {
	s, secret := created(t, time.Time{})
	other := identity.Mint(random(2))
	_, wrong, _ := identity.ParseToken(other.Text)
	s = fold(t, s, identity.Revoke{ID: s.ID, By: "admin/local"}) // not even that it was revoked is told
	_, err1 := identity.Verify(s, wrong, noon)
	_, err2 := identity.Verify(identity.State{}, secret, noon)
	_, err3 := identity.Verify(identity.State{}, "", noon)
	want := ruletest.Refused(t, err1, refusal.Unauthenticated).Error()
	if err2.Error() != want || err3.Error() != want {
		t.Errorf("%v / %v / %v", err1, err2, err3)
	}
}

func TestARevokedTokenEndsAtOnceAndOnlyOnce(t *testing.T) {
	s, secret := created(t, time.Time{})
	s = fold(t, s, identity.Revoke{ID: s.ID, By: "admin/local"})
	_, err := identity.Verify(s, secret, noon)
	if r := ruletest.Refused(t, err, refusal.Unauthenticated); !strings.Contains(r.Message, "revoked") {
		t.Error(r)
	}
	if events, err := identity.Decide(s, identity.Revoke{ID: s.ID, By: "admin/other"}, noon); len(events) > 0 || err != nil {
		t.Errorf("revoked twice: %v, %v", events, err)
	}
	_, err = identity.Decide(identity.State{}, identity.Revoke{ID: s.ID}, noon)
	ruletest.Refused(t, err, refusal.NotFound)
}

func TestATokenExpiresOnTime(t *testing.T) {
	s, secret := created(t, noon.Add(time.Hour))
	if _, err := identity.Verify(s, secret, noon.Add(time.Hour-1)); err != nil {
		t.Errorf("just before: %v", err)
	}
	_, err := identity.Verify(s, secret, noon.Add(time.Hour))
	if r := ruletest.Refused(t, err, refusal.Unauthenticated); !strings.Contains(r.Message, "expired") {
		t.Error(r)
	}
}

func TestATokenThatBreaksARuleIsRefused(t *testing.T) {
	m := identity.Mint(random(1))
	for name, change := range map[string]func(*identity.Create){
		"unknown role":      func(c *identity.Create) { c.Principal.Role = "root" },
		"no role":           func(c *identity.Create) { c.Principal.Role = "" },
		"bad name":          func(c *identity.Create) { c.Principal.Name = "a/b" },
		"no name":           func(c *identity.Create) { c.Principal.Name = "" },
		"a server's name":   func(c *identity.Create) { c.Principal.Role, c.Principal.Name = identity.Operator, "courier" },
		"the server's role": func(c *identity.Create) { c.Principal.Role, c.Principal.Name = identity.Auditor, "system" },
		"no workspace":      func(c *identity.Create) { c.Principal.Workspace = "" },
		"expired already":   func(c *identity.Create) { c.ExpiresAt = noon },
		"control in label":  func(c *identity.Create) { c.Label = "a\x00" },
		"bidi in label":     func(c *identity.Create) { c.Label = "a\u202e" },
		"id not ours":       func(c *identity.Create) { c.ID = "../../etc/passwd" },
		"hash is no hash":   func(c *identity.Create) { c.Hash = "secret" },
		"hash in uppercase": func(c *identity.Create) { c.Hash = strings.ToUpper(c.Hash) },
	} {
		c := identity.Create{ID: m.ID, Hash: m.Hash, Principal: writer, By: "admin/local"}
		change(&c)
		_, err := identity.Decide(identity.State{}, c, noon)
		if refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := identity.Decide(identity.State{}, identity.Create{
		ID: m.ID, Hash: m.Hash, Principal: writer, Label: strings.Repeat("a", 201),
	}, noon)
	ruletest.Refused(t, err, refusal.TooLarge)
}

func TestAnIDIsUsedOnce(t *testing.T) {
	s, _ := created(t, time.Time{})
	m := identity.Mint(random(1))
	_, err := identity.Decide(s, identity.Create{ID: m.ID, Hash: m.Hash, Principal: writer}, noon)
	ruletest.Refused(t, err, refusal.Conflict)
}

func TestTextThatIsNoTokenIsRefusedWithoutRepeatingIt(t *testing.T) {
	good := identity.Mint(random(1)).Text
	last := good[len(good)-1]
	for _, text := range []string{
		"", "tz_", "tz__", good + "a", good[:len(good)-1], " " + good, good + "\n", strings.ToUpper(good), good[3:],
		strings.Replace(good, "tz_", "xx_", 1), good[:len(good)-1] + "\n", good[:10] + "_" + good[11:],
		good[:len(good)-1] + string(last+1), // the same bytes with stray bits
		"Bearer " + good,
	} {
		_, _, err := identity.ParseToken(text)
		r := ruletest.Refused(t, err, refusal.Unauthenticated)
		if len(text) > 10 && strings.Contains(r.Error(), text[8:]) {
			t.Errorf("the refusal repeats %q", text)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(identity.Mint(random(1)).Text)
	f.Add("tz_aaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")
	f.Add("tz__")
	f.Add("tz_\x00_\xff")
	f.Fuzz(func(t *testing.T, text string) {
		id, secret, err := identity.ParseToken(text)
		if err != nil {
			if id != "" || secret != "" || refusal.CodeOf(err) != refusal.Unauthenticated {
				t.Fatalf("%q, %q, %v", id, secret, err)
			}
			return
		}
		if text != "tz_"+id+"_"+secret || len(id) != 16 || len(secret) != 52 {
			t.Fatalf("%q parses as %q and %q", text, id, secret)
		}
	})
}

// TestWhoMayWhat is the permission table, written out a second time for a reader to check against the design.
func TestWhoMayWhat(t *testing.T) {
	const want = `
             admin operator auditor agent
read_own     yes   yes      yes     yes
read_any     yes   yes      yes     -
read_audit   yes   yes      yes     -
act_own      yes   yes      -       yes
act_any      yes   yes      -       -
dead_letters yes   yes      -       -
agents       yes   yes      -       -
tokens       yes   -        -       -
workspaces   yes   -        -       -
`
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-12s", "")
	for _, r := range identity.Roles.Values() {
		fmt.Fprintf(&b, " %s", r)
	}
	b.WriteString("\n")
	for _, v := range identity.Permissions() {
		line := fmt.Sprintf("%-12s", v)
		for _, r := range identity.Roles.Values() {
			cell := "-"
			if identity.May(r, v) {
				cell = "yes"
			}
			line += fmt.Sprintf(" %-*s", len(r), cell)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if got := b.String(); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}

func TestUnknownRolesAndVerbsMayNothing(t *testing.T) {
	for _, v := range append(identity.Permissions(), "fly") {
		if identity.May("root", v) || identity.May("", v) {
			t.Errorf("an unknown role may %s", v)
		}
	}
	for _, r := range identity.Roles.Values() {
		if identity.May(r, "fly") {
			t.Errorf("%s may do an unknown verb", r)
		}
	}
}

func TestARefusalSaysWhichRoleItTakes(t *testing.T) {
	r := ruletest.Refused(t, identity.Require(writer, identity.ManageDeadLetters, "replay a dead letter"), refusal.NotPermitted)
	if want := "not_permitted: writer may not replay a dead letter (this needs the role admin or operator)"; r.Error() != want {
		t.Errorf("got %q, want %q", r.Error(), want)
	}
	if err := identity.Require(writer, identity.ActOwn, "accept"); err != nil {
		t.Error(err)
	}
}
