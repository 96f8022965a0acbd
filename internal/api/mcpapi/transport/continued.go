package transport

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// A server that was restarted knows none of the sessions that were open before, nor does another one of the same record. The id of a
// session tells which process began it, and is authenticated with the token that began it: so a session of another process is begun
// again under its id, for the same token alone. Clients of the older protocol rarely connect again by themselves.

const (
	processSize = 8
	idSize      = processSize + 16
	macSize     = 16
	// firstVersion is the protocol version of a client that names none in the requests of its session.
	firstVersion = "2025-03-26"
)

var idText = base32.StdEncoding.WithPadding(base32.NoPadding)

// process identifies a process in the ids of the sessions that it begins.
type process [processSize]byte

func newProcess() (p process) {
	_, _ = rand.Read(p[:]) // never fails
	return p
}

// newID returns the id of a new session of a caller.
func (p process) newID(v *caller) string {
	b := make([]byte, idSize)
	copy(b, p[:])
	_, _ = rand.Read(b[processSize:]) // never fails
	return idText.EncodeToString(slices.Concat(b, macOf(v, b)))
}

// elsewhere reports whether another process began a session with the token of a caller.
func (p process) elsewhere(v *caller, id string) bool {
	b, err := idText.DecodeString(id)
	return err == nil && len(b) == idSize+macSize && process(b[:processSize]) != p && hmac.Equal(macOf(v, b[:idSize]), b[idSize:])
}

func macOf(v *caller, b []byte) []byte {
	m := hmac.New(sha256.New, []byte("trapeze session\x00"+v.token))
	_, _ = fmt.Fprintf(m, "%s\x00%s", v.key, b) // never fails
	return m.Sum(nil)[:macSize]
}

// ids gives the SDK the ids of new sessions of one principal.
type ids struct {
	mu   sync.Mutex // held from next until the id is taken
	next string
	done func() // unlocks mu, once
}

// offer lets the next session have an id; done is to be called in any case when the request that begins the session has ended.
func (x *ids) offer(id string) (done func()) {
	x.mu.Lock()
	x.next, x.done = id, sync.OnceFunc(x.mu.Unlock)
	return x.done
}

// take returns the id that was offered.
func (x *ids) take() string {
	id, done := x.next, x.done
	if id == "" { // it was taken
		return rand.Text()
	}
	x.next = ""
	done()
	return id
}

// continues begins a session of another process again, and reports whether it is there. What the session was told of before is gone: the
// epochs of its tasks, its subscriptions, and what its client can do. A caller may begin so only what it could begin as a new session.
func (p process) continues(next http.Handler, r *http.Request, id string) bool {
	v := callerFrom(r.Context())
	if !p.elsewhere(v, id) {
		return false
	}
	defer v.sessions.beginAgain(id)()
	if v.sessions.has(id) { // another request was first
		return true
	}
	done, ok := v.sessions.begin()
	if !ok {
		return false
	}
	began := ""
	defer func() { done(began) }()
	version := r.Header.Get("Mcp-Protocol-Version")
	if version == "" {
		version = firstVersion
	}
	taken := v.ids.offer(id)
	defer taken()
	w := post(next, r, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"continued","version":""}}}`, version))
	if w.Get(sessionHeader) != id {
		return false
	}
	began = id
	post(next, r, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return true
}

// post sends a message of the caller of a request to a handler, and returns the header of the answer.
func post(next http.Handler, r *http.Request, session, body string) http.Header {
	m := r.Clone(context.WithoutCancel(r.Context()))
	m.Method, m.Body, m.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
	m.Header.Set("Content-Type", "application/json")
	m.Header.Set("Accept", "application/json, text/event-stream")
	m.Header.Del("Last-Event-Id")
	if m.Header.Del(sessionHeader); session != "" {
		m.Header.Set(sessionHeader, session)
	}
	w := &unread{header: http.Header{}}
	next.ServeHTTP(w, m)
	return w.header
}

// unread is an answer of which the header alone counts.
type unread struct{ header http.Header }

func (w *unread) Header() http.Header         { return w.header }
func (w *unread) Write(b []byte) (int, error) { return len(b), nil }
func (w *unread) WriteHeader(int)             {}
