package server

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/witness"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// observer is a witness of the log of a data directory.
type observer struct {
	*httptest.Server
	key  proof.WitnessKey
	away atomic.Bool // it answers nothing useful
}

// spec is the witness as trapeze serve --witness takes it.
func (o *observer) spec() string { return o.URL + "=" + o.key.String() }

// witnessOf makes a witness of the log of a data directory, whose server has run.
func witnessOf(t *testing.T, dir, name string) *observer {
	t.Helper()
	keys, err := os.ReadFile(filepath.Join(dir, "proof", "keys"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.Open(t.TempDir(), name, string(keys), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{}
	if o.key, err = proof.ParseWitnessKey(w.Key()); err != nil {
		t.Fatal(err)
	}
	h := w.Handler(slog.New(slog.DiscardHandler))
	o.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if o.away.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() {
		o.Close()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// started is a data directory on which a server has run.
func started(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	stop(t, open(t, dir))
	return dir
}

// witnessed opens a server with witnesses.
func witnessed(t *testing.T, dir string, by ...*observer) *Server {
	t.Helper()
	c := Config{DataDir: dir, Addr: "127.0.0.1:0"}
	for _, o := range by {
		c.Witnesses = append(c.Witnesses, o.spec())
	}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWitnessesCosignCheckpointsAndReceipts(t *testing.T) {
	t.Parallel()
	dir := started(t)
	one, two := witnessOf(t, dir, "one.example.com"), witnessOf(t, dir, "two.example.com")
	s := witnessed(t, dir, one, two)
	task := paid(t, s)
	cosigned(t, s, task, one, two)
	await(t, func() bool {
		var served bytes.Buffer
		if err := admin.New(owner(t, s)).Checkpoint(t.Context(), &served); err != nil {
			t.Fatal(err)
		}
		_, err := proof.CheckCosignatures(served.Bytes(), []proof.WitnessKey{one.key, two.key}, 2)
		return err == nil
	})

	two.away.Store(true) // a receipt needs no witness
	cosigned(t, s, paid(t, s), one)
	one.away.Store(true)
	receipt, keys := receiptOf(t, owner(t, s), paid(t, s)+".h1")
	if !verifies(t, receipt, keys) {
		t.Error("without witnesses the receipt does not verify")
	}
	stop(t, s)
	if found := verified(t, dir); len(found) > 0 {
		t.Error(found)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "proof", "witnesses")); string(kept) != one.key.String()+"\n"+two.key.String()+"\n" { //nolint:gosec // of the test
		t.Errorf("the keys of the witnesses are kept as %q, %v", kept, err)
	}
}

// moody is a witness that cosigns whatever it is shown, or nothing.
type moody struct{ refuses atomic.Bool }

// serve runs the witness, and returns it as trapeze serve --witness takes it.
func (m *moody) serve(t *testing.T) string {
	t.Helper()
	text, err := proof.NewWitnessKey("moody.example.com")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := proof.ParseWitnessSigner(text, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if m.refuses.Load() {
			rw.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, msg, _ := bytes.Cut(body, []byte("\n\n"))
		point, _, _ := bytes.Cut(msg, []byte("\n\n"))
		signed, err := note.Sign(&note.Note{Text: string(point) + "\n"}, signer)
		if err != nil {
			t.Error(err)
		}
		_, line, _ := bytes.Cut(signed, []byte("\n\n"))
		_, _ = rw.Write(line)
	}))
	t.Cleanup(s.Close)
	return s.URL + "=" + signer.String()
}

// refuses has the witness refuse the record, or cosign it again, and waits until the server knows.
func (st *stage) refuses(yes bool) {
	st.Helper()
	st.moody.refuses.Store(yes)
	if _, err := st.lead().CreateTask(st.Context(), client.CreateInput{Intent: "work"}); err != nil {
		st.Fatal(err)
	}
	await(st.T, func() bool { return (st.s.cosigner.Err() != nil) == yes })
}

// cosigned waits until the checkpoint of a receipt with a task is cosigned by witnesses: after two seconds a receipt is given without.
func cosigned(t *testing.T, s *Server, task string, by ...*observer) {
	t.Helper()
	var of []proof.WitnessKey
	for _, o := range by {
		of = append(of, o.key)
	}
	await(t, func() bool {
		receipt, keys := receiptOf(t, owner(t, s), task+".h1")
		list, err := proof.ParseInclusions(receipt)
		if err != nil || !verifies(t, receipt, keys) {
			t.Fatalf("the receipt does not verify: %v", err)
		}
		_, err = proof.CheckCosignatures(list[0].Checkpoint, of, len(of))
		return err == nil
	})
}

// await waits for a condition.
func await(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.After(time.Minute); !is(); {
		select {
		case <-end:
			t.Fatal("it never came")
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
}
