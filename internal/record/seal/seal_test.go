package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// labels are the texts of events that are no content: names, ids, digests, and texts that the server itself writes.
var labels = strings.Fields(`
	subject agent sender senders by from to then task child requester parent desk model policy rule chain channel capability origin conversation
	digest envelope source granted route tags permissions cancel owner entry id text_by hard_by max_by allow_by tightened_by
	approver through trace allow handoff broken pinned`)

// written are the texts by which the server says why it did something.
var written = []string{"passed_over.why", "decision.why", "decision.weighed.why", "children-joined.why"}

// texts calls fn with the path of each free text in a type.
func texts(t reflect.Type, path string, fn func(path string)) {
	if t.PkgPath() == "time" {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Array:
		texts(t.Elem(), path, fn)
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			fn(path)
			return
		}
		texts(t.Elem(), path, fn)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Type != t && (f.Type.Kind() != reflect.Slice || f.Type.Elem() != t) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				texts(f.Type, strings.TrimPrefix(path+"."+name, "."), fn)
			}
		}
	case reflect.String:
		if t == reflect.TypeFor[string]() {
			fn(path)
		}
	default: // numbers and flags
	}
}

// covers reports whether a path is at or below one of the contents.
func covers(p ledger.Paths, path string) bool {
	name, rest, _ := strings.Cut(path, ".")
	below, ok := p[name]
	return ok && (below == nil || rest != "" && covers(below, rest))
}

func TestEveryTextOfAnEventIsContentOrListedAsALabel(t *testing.T) {
	var all []interface{ EventName() string }
	for _, e := range event.Events {
		all = append(all, e)
	}
	for _, e := range memory.Events {
		all = append(all, e)
	}
	for _, e := range conversation.Events {
		all = append(all, e)
	}
	for _, e := range all {
		name := e.EventName()
		texts(reflect.TypeOf(e), "", func(path string) {
			last := path[strings.LastIndex(path, ".")+1:]
			label := slices.Contains(labels, last) || slices.ContainsFunc(written, func(w string) bool { return w == path || w == name+"."+path })
			if !covers(contents[name], path) && !label {
				t.Errorf("%s.%s is a text: list it as content, or say here why it stays after an erasure", name, path)
			}
		})
	}
}

const sentence = "the patient Wanda Moor has the diagnosis X41"

var at = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

func progress(t *testing.T, stream ledger.Stream) ledger.Entry {
	t.Helper()
	events, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{event.Progressed{Note: sentence}, event.LeaseRenewed{Lease: at}})
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Entry{Stream: stream, Version: 2, Time: at, Actor: ledger.Actor{Principal: "agent/ann"}, Events: events}
}

func open(t *testing.T, path string) *Sealer {
	t.Helper()
	w, err := NewWrapper(bytes.Repeat([]byte{7}, keySize))
	if err != nil {
		t.Fatal(err)
	}
	if err := Create(path, w); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	keys, err := OpenFile(path, w, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// stored is an entry as it comes back from a disk.
func stored(t *testing.T, e ledger.Entry) (ledger.Entry, []byte) {
	t.Helper()
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ledger.Decode(bytes.Clone(b))
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Encode()
	if err != nil || !bytes.Equal(b, again) {
		t.Fatalf("other bytes, %v", err)
	}
	return back, b
}

func TestContentIsReadWithItsKeyAndIsErasedWithoutIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	s := open(t, path)
	e := progress(t, "default/task/t1")
	sealed, err := s.Seal(e)
	if err != nil {
		t.Fatal(err)
	}
	back, raw := stored(t, sealed)
	if bytes.Contains(raw, []byte("Wanda")) || !strings.Contains(string(back.Events[0].Data), ledger.Hidden) {
		t.Fatalf("%s", raw)
	}
	s = open(t, path) // after a restart
	opened, err := s.Open(back)
	if err != nil || string(opened.Events[0].Data) != string(e.Events[0].Data) || string(opened.Events[1].Data) != string(e.Events[1].Data) {
		t.Fatalf("%s, %v", opened.Events[0].Data, err)
	}
	plain, want := stored2(t, opened.Plain()), stored2(t, e)
	if plain != want {
		t.Errorf("%s, want %s", plain, want)
	}
	if err := s.Destroy([]ledger.Stream{e.Stream}, []string{back.KeyID}, at, "operator/bo"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Sealer{s, open(t, path)} {
		erased, err := s.Open(back)
		if err != nil || !strings.Contains(string(erased.Events[0].Data), `"erased on 2026-11-23 by operator/bo"`) {
			t.Errorf("%s, %v", erased.Events[0].Data, err)
		}
		if _, b := stored(t, erased); !bytes.Equal(b, raw) {
			t.Error("the erased entry has other bytes")
		}
	}
	again, err := s.Seal(e)
	if err != nil || again.KeyID == back.KeyID {
		t.Errorf("sealed under the destroyed key, %v", err)
	}
}

func stored2(t *testing.T, e ledger.Entry) string {
	t.Helper()
	_, b := stored(t, e)
	return string(b)
}

func TestAKeyIsOfOneStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	used := map[string]ledger.Stream{}
	for range 2 { // runs of the server
		s := open(t, path)
		for i := range 3 * chunk {
			e := progress(t, ledger.StreamOf("default", "task", "t"+string(rune('a'+i%26))+strings.Repeat("x", i/26)))
			sealed, err := s.Seal(e)
			if err != nil {
				t.Fatal(err)
			}
			if of, ok := used[sealed.KeyID]; ok {
				t.Fatalf("key %s of %s and %s", sealed.KeyID, of, e.Stream)
			}
			used[sealed.KeyID] = e.Stream
			if _, _, err := s.keys.find(sealed.KeyID); err != nil {
				t.Fatalf("it is not on disk: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutItsKeyContentIsDamagedAndNotErased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	s := open(t, path)
	sealed, err := s.Seal(progress(t, "default/task/t1"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"shorter": func(b []byte) []byte { return b[:headerSize] },
		"zeros":   func(b []byte) []byte { clear(b[headerSize:]); return b },
		"a letter": func(b []byte) []byte {
			b[len(b)-slotSize] = isErased
			b[headerSize+(chunk-1)*slotSize] = isErased
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "keys")
			if err := os.WriteFile(file, change(bytes.Clone(b)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := open(t, file).Open(sealed); !errors.Is(err, ErrMissing) {
				t.Errorf("%v", err)
			}
		})
	}
	other, err := NewWrapper(bytes.Repeat([]byte{8}, keySize))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(path, other, true); err == nil {
		t.Error("opened with another key of the installation")
	}
}

func TestAnOutlineThatWasChangedIsNotOpened(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "keys"))
	sealed, err := s.Seal(progress(t, "default/task/t1"))
	if err != nil {
		t.Fatal(err)
	}
	sealed.Sealed = bytes.Replace(sealed.Sealed, []byte("2026-11-23"), []byte("2026-11-24"), 1)
	if _, err := s.Open(sealed); err == nil {
		t.Error("opened")
	}
	sealed, err = s.Seal(progress(t, "default/task/t1"))
	if err != nil {
		t.Fatal(err)
	}
	sealed.Stream = "default/task/t2"
	if _, err := s.Open(sealed); err == nil {
		t.Error("opened in another stream")
	}
}

func TestADamagedKeyIsDestroyedToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	s := open(t, path)
	e := progress(t, "default/task/t1")
	sealed, err := s.Seal(e)
	if err != nil {
		t.Fatal(err)
	}
	sealed, _ = stored(t, sealed)
	_, n, err := s.keys.read(sealed.KeyID)
	if err != nil {
		t.Fatal(err)
	}
	at0 := headerSize + n*slotSize
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at0+100] ^= 1 // a bit of the slot, not of the key
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if _, err := s.Open(sealed); !errors.Is(err, ErrMissing) {
		t.Fatalf("%v", err)
	}
	if err := s.Destroy([]ledger.Stream{e.Stream}, []string{sealed.KeyID}, at, "operator/bo"); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || bytes.Contains(after, b[at0+5:at0+5+12+keySize+16]) {
		t.Errorf("the key is still in the file, %v", err)
	}
	if opened, err := s.Open(sealed); err != nil || !strings.Contains(string(opened.Events[0].Data), "erased on 2026-11-23") {
		t.Errorf("%s, %v", opened.Events[0].Data, err)
	}
}
