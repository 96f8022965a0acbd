//go:build slow

package server

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

func TestNobodyTakesTheLinksAndSessionsOfOthers(t *testing.T) {
	clock := NewClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
	s, admin := forTests(t, Config{Temporary: true, Clock: clock})
	junk := agentToken(t, admin, "junk")
	operator, r := newReader(t, s), newReader(t, s)
	waiting := operator.link(adminToken(t, s))
	var links []string
	for range 120 {
		links = append(links, r.link(junk))
	}
	operator.get(operator.link(adminToken(t, s)), http.StatusOK) // beside all of those
	newReader(t, s).get(waiting, http.StatusOK)
	newReader(t, s).get(links[len(links)-1], http.StatusOK)
	newReader(t, s).get(links[0], http.StatusForbidden) // newer ones took its place

	home, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	var kept []*http.Cookie
	for n := range 120 {
		if _, err := s.Advance(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		r.do(http.MethodPost, "/sign-in", url.Values{"token": {junk}}.Encode())
		kept = append(kept, r.http.Jar.Cookies(home)...)
		if len(kept) != n+1 {
			t.Fatalf("%d cookies after %d sessions", len(kept), n+1)
		}
		r.get("/", http.StatusOK)
		r.do(http.MethodPost, "/sign-out", "")
	}
	for _, c := range kept {
		r.http.Jar.SetCookies(home, []*http.Cookie{c})
		r.get("/", http.StatusSeeOther)
	}
	operator.get("/", http.StatusOK)
}
