//go:build slow

package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

func TestTheServerSpeaksHTTP2(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	s := openTLS(t, pairFiles(ca.Issue("127.0.0.1"), ""), nil)
	for _, second := range []bool{true, false} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(ca), ForceAttemptHTTP2: second}}
		res := request(t, c, s.URL()+"/sign-in")
		if (res.version == 2) != second || res.tls.Version < tls.VersionTLS12 {
			t.Errorf("HTTP/%d, TLS %x", res.version, res.tls.Version)
		}
	}
}

// TestRenewalFailsNoCall replaces certificate and key one after the other, as programs that renew them do, while calls come in.
func TestRenewalFailsNoCall(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	pair := ca.Issue("127.0.0.1")
	s := openTLS(t, pairFiles(pair, ""), nil)
	var calls atomic.Int64
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	kept := dialTLS(t, s, s.URL(), trusting(ca), false)
	for range 4 {
		fresh := dialTLS(t, s, s.URL(), trusting(ca), true)
		all.Go(func() {
			for ctx.Err() == nil {
				for _, c := range []*client.Client{fresh, kept} {
					if _, err := c.Me(t.Context()); err != nil {
						t.Errorf("a call while the certificate is renewed: %v", err)
						return
					}
				}
				calls.Add(1)
			}
		})
	}
	for range 20 {
		from := calls.Load()
		ca.Renew(pair, "127.0.0.1")
		for calls.Load() < from+8 && !t.Failed() {
			time.Sleep(time.Millisecond) // until the calls have seen it
		}
	}
	stop()
	all.Wait()
	again, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	res := request(t, &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(ca)}}, s.URL()+"/healthz")
	if res.tls.PeerCertificates[0].SerialNumber.Cmp(again.Leaf.SerialNumber) != 0 {
		t.Error("a new connection does not get the certificate in the file")
	}
	if err := s.renewed(); err != nil {
		t.Error(err)
	}
}

func TestABrokenRenewalKeepsTheOldCertificate(t *testing.T) {
	t.Parallel()
	ca, other := certtest.NewCA(t), certtest.NewCA(t)
	pair := ca.Issue("127.0.0.1")
	var log safeBuffer
	s := openTLS(t, pairFiles(pair, ""), slog.New(slog.NewTextHandler(&log, nil)))
	c := dialTLS(t, s, s.URL(), trusting(ca), true)
	write := func(name, text string, mode os.FileMode) func() {
		return func() {
			err := errors.Join(os.Remove(name), os.WriteFile(name, []byte(text), 0o600), os.Chmod(name, mode))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	key, err := os.ReadFile(pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		spoil func()
		want  string
	}{
		"half a certificate":    {write(pair.Cert, "-----BEGIN CERTIFICATE-----\nMII", 0o600), "failed to find any PEM data"},
		"no key":                {func() { _ = os.Remove(pair.Key) }, "no such file"},
		"a key of another":      {func() { other.Renew(certtest.Pair{Cert: t.TempDir() + "/unused.pem", Key: pair.Key}) }, "does not match"},
		"a key that others see": {write(pair.Key, string(key), 0o644), "can be read by others"},
		"one that has expired":  {func() { ca.RenewUntil(pair, time.Now().Add(-time.Hour), "127.0.0.1") }, "has been invalid since"},
	} {
		one.spoil()
		if _, err := c.Me(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.renewed(); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(log.text(), one.want) {
			t.Errorf("%s: the log has %s", name, log.text())
		}
		ca.Renew(pair, "127.0.0.1")
		if _, err := c.Me(t.Context()); err != nil || s.renewed() != nil {
			t.Errorf("after %s: %v, %v", name, err, s.renewed())
		}
		log.reset()
	}
	ca.RenewUntil(pair, time.Now().Add(24*time.Hour), "127.0.0.1")
	if _, err := c.Me(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.renewed(); err == nil || !strings.Contains(err.Error(), "has not been renewed") {
		t.Errorf("on its last day: %v", err)
	}
}

// safeBuffer is a buffer that several goroutines write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *safeBuffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b.Reset()
}

// TestNoAcceptanceIsLostWhenAServerWithTLSStops stops a server while a receiver accepts and the sender waits for its inbox.
func TestNoAcceptanceIsLostWhenAServerWithTLSStops(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := certtest.NewCA(t)
			config := Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", TLS: pairFiles(ca.Issue("127.0.0.1"), "")}
			s, err := Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			lead, coder, offers := offersOver(t, s, &http.Transport{TLSClientConfig: trusting(ca), ForceAttemptHTTP2: second})
			waited := make(chan struct{})
			go func() {
				defer close(waited)
				_, _ = lead.Inbox(t.Context(), client.InboxOptions{Wait: client.MaxWait}) // there is nothing, or the server is away
			}()
			accepted, some := make(chan string, len(offers)), make(chan struct{})
			go func() {
				defer close(accepted)
				enough := sync.OnceFunc(func() { close(some) })
				defer enough() // also if it fails before
				for i, id := range offers {
					if _, err := coder.Accept(t.Context(), id, client.AcceptInput{}); err != nil {
						if !client.Away(err) {
							t.Errorf("an accept while the server stops: %v", err)
						}
						return
					}
					accepted <- id
					if i == 10 {
						enough()
					}
				}
			}()
			<-some
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-waited
			if s, err = Open(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			boss := connect(t, s, token(t, s))
			for id := range accepted {
				if h, err := boss.Handoff(t.Context(), id); err != nil || h.Receiver != "coder" {
					t.Errorf("%s was accepted: %v, %+v", id, err, h)
				}
			}
		})
	}
}

// offersOver returns clients of a sender and a receiver over a transport, and handoffs that the receiver has been offered.
func offersOver(t *testing.T, s *Server, over *http.Transport) (lead, coder *client.Client, offers []string) {
	t.Helper()
	boss := connect(t, s, token(t, s))
	agent := func(name string) *client.Client {
		if _, err := boss.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		made, err := boss.CreateToken(t.Context(), client.TokenInput{Role: "agent", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(s.URL(), made.Text, client.Options{HTTP: &http.Client{Transport: over}, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	lead, coder = agent("lead"), agent("coder")
	for range 100 {
		r, err := lead.CreateTask(t.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{"coder"}}})
		if err != nil {
			t.Fatal(err)
		}
		offers = append(offers, r.Handoff)
	}
	return lead, coder, offers
}

func TestSessionsOfThePageKeepToTLS(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	for name, one := range map[string]struct {
		config Config
		host   string
		secure bool
	}{
		"the server does TLS":              {Config{TLS: pairFiles(ca.Issue("127.0.0.1"), "")}, "127.0.0.1", true},
		"a proxy does TLS":                 {Config{BehindProxy: true, Hosts: []string{"trapeze.example"}}, "trapeze.example", true},
		"on the machine, beside the proxy": {Config{BehindProxy: true}, "127.0.0.1", false},
		"on the machine":                   {Config{}, "localhost", false},
	} {
		one.config.Temporary = true
		s, err := Open(t.Context(), one.config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close(context.Background()) })
		form := strings.NewReader("token=" + strings.TrimSpace(token(t, s)))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/sign-in", form)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = one.host
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := (&http.Transport{TLSClientConfig: trust(s)}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if list := res.Cookies(); len(list) != 1 || list[0].Secure != one.secure || !list[0].HttpOnly || list[0].SameSite != http.SameSiteStrictMode {
			t.Errorf("%s: %s, %v", name, res.Status, list)
		}
	}
}
