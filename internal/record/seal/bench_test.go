package seal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// BenchmarkSeal seals and opens an entry with a note of 2 KB, as far as it does not reach the disk.
func BenchmarkSeal(b *testing.B) {
	w, err := NewWrapper(make([]byte, keySize))
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "keys")
	if err := Create(path, w); err != nil {
		b.Fatal(err)
	}
	keys, err := OpenFile(path, w, false)
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(keys)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	events, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{event.Progressed{Note: strings.Repeat("what was done ", 146)}, event.LeaseRenewed{Lease: at}})
	if err != nil {
		b.Fatal(err)
	}
	e := ledger.Entry{Stream: "default/task/t1", Version: 2, Time: at, Actor: ledger.Actor{Principal: "agent/ann"}, Events: events}
	sealed, err := s.Seal(e)
	if err != nil {
		b.Fatal(err)
	}
	plain, err := e.Encode()
	if err != nil {
		b.Fatal(err)
	}
	stored, err := sealed.Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Seal(e); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(stored)-len(plain)), "more-bytes")
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Open(sealed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
