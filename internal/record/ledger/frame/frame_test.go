package frame

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

func TestDictionary1IsFrozen(t *testing.T) {
	const want = "204f46c65d999e08a3ef6621a691873884ca267c7cb0f4aa028a9de1cb0dada4"
	if got := sha256.Sum256(dictionary1); hex.EncodeToString(got[:]) != want {
		t.Errorf("dictionary 1 has changed (%x): entries that are stored with it could not be read", got)
	}
}

// usual is an entry as most are.
func usual(t testing.TB) []byte {
	t.Helper()
	e := ledgertest.KiB("default/task/task_06h0emw9j980gw8rxh2w454wg4", 1)
	b, err := e.EncodeFor(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFrozenFramesAreRead has entries as they were stored when framing 1 was new.
func TestFrozenFramesAreRead(t *testing.T) {
	const entry = `{"actor":{"principal":"agent/ann","token":"u4ms6quyxjjj57ux"},"enc":"none","events":[{"name":"task-completed","version":1}],"key":"a928cff214ff346add85ecdb8321f472","request":"6c1030403ddd8428fd6dd519bb107bf3","stream":"default/task/task_06h0emw9j980gw8rxh2w454wg4","time":"2026-11-23T07:34:04.949829Z","v":1,"version":3}
[{"agent":"ann","result":{"text":"done"},"at":"2026-11-23T07:34:04.949829Z"}]`
	const stored = "019d5b43e58f030f7a020a02e714047502ff0175346d7336717579786a6a6a35377578860235f01061393238636666323134666633343661646438356563646238333231663437680206a702f010366331303330343033646464383432386664366464353139626231303762666b330fc8020af0096830656d77396a393830677738727868327734353477673433010be002ff03335430373a33343a30342e3934393832395af2020009f1020f17161a0c5f0050395a227d5d"
	b, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Open(b, 7); err != nil || string(got.Bytes) != entry || got.Placed {
		t.Errorf("%s, %v", got.Bytes, err)
	}
	if 2*len(b) > len(entry) {
		t.Errorf("an entry of %d bytes takes %d", len(entry), len(b))
	}
}

func TestAChangedFrameIsNoticed(t *testing.T) {
	changedFrame(t, usual(t))
}

// sealed is an entry as it is stored at position 300, after one of its stream at 200.
func sealed(t testing.TB, entry []byte) []byte {
	t.Helper()
	frame, sum := Append(nil, entry)
	if err := Seal(frame, sum, 300, 200, 1<<60); err != nil {
		t.Fatal(err)
	}
	return frame
}

func changedFrame(t *testing.T, entry []byte) {
	t.Helper()
	frame := sealed(t, entry)
	got, err := Open(frame, 300)
	if err != nil || !bytes.Equal(got.Bytes, entry) || !got.Placed || got.Previous != 200 {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := Open(frame, 301); !errors.Is(err, ErrChanged) {
		t.Errorf("at another position: %v", err)
	}
	for i := range frame {
		for _, change := range []byte{1, 0x80, 0xff} {
			changed := bytes.Clone(frame)
			changed[i] ^= change
			got, err := Open(changed, 300) // a match may be found at another place, too
			if err == nil && (!bytes.Equal(got.Bytes, entry) || got.Previous != 200) {
				if _, err = ledger.Decode(got.Bytes); err == nil {
					t.Fatalf("byte %d changed by %#x: nothing is noticed", i, change)
				}
			}
			if err != nil && !errors.Is(err, ledger.ErrInvalid) {
				t.Fatal(err)
			}
		}
		if _, err := Open(frame[:i], 300); i > 0 && err == nil {
			t.Fatalf("cut after %d bytes: nothing is noticed", i)
		}
	}
}

// TestAChangedNoteOfAnEntryThatWasPutAwayIsNoticed changes every bit, and each framing to the other.
func TestAChangedNoteOfAnEntryThatWasPutAwayIsNoticed(t *testing.T) {
	entry := []byte(strings.Repeat("an entry of a task; ", 20))
	frame := sealed(t, entry)
	note, done, err := PutAway(frame, 300, "1-400.segment")
	if err != nil || !done {
		t.Fatal(done, err)
	}
	got, err := Open(note, 300)
	leaf := sha256.Sum256(append([]byte{0}, entry...))
	if err != nil || got.Segment != "1-400.segment" || got.Leaf != leaf || got.Previous != 200 || got.Index != 1<<60 || got.Bytes != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, done, err := PutAway(note, 300, "1-400.segment"); done || err != nil {
		t.Errorf("put away again: %t, %v", done, err)
	}
	if _, err := Open(note, 301); !errors.Is(err, ErrChanged) {
		t.Errorf("at another position: %v", err)
	}
	for i := range note {
		for bit := range 8 {
			changed := bytes.Clone(note)
			changed[i] ^= 1 << bit
			if _, err := Open(changed, 300); err == nil {
				t.Errorf("bit %d of byte %d: nothing is noticed", bit, i)
			}
		}
		if _, err := Open(note[:i], 300); i > 0 && err == nil {
			t.Errorf("cut after %d bytes: nothing is noticed", i)
		}
	}
	frame[0] = framing5
	if got, err := Open(frame, 300); err == nil {
		t.Errorf("an entry that is said to be put away: %+v", got)
	}
}

func TestAnEntryThatIsNotWorthItIsNotCompressed(t *testing.T) {
	long := make([]byte, 3000)
	for i := range long { // no three bytes are repeated
		long[i] = byte(i*i>>3 ^ i*7)
	}
	long[0] = plainEntry
	large := bytes.Repeat([]byte(`{"name":1},`), maxFramed)
	for _, entry := range [][]byte{[]byte(`{}`), long, large} {
		frame := sealed(t, entry)
		got, err := Open(frame, 300)
		if err != nil || !bytes.Equal(got.Bytes, entry) || len(frame) > len(entry)+sealedHeader+1 {
			t.Errorf("%d bytes become %d, %v", len(entry), len(frame), err)
		}
	}
}

func TestAFramingOfANewerVersionIsNamed(t *testing.T) {
	if _, err := Open([]byte{9, 1, 2, 3}, 1); err == nil || !strings.Contains(err.Error(), "framing 9") {
		t.Error(err)
	}
}

func TestBlocksGiveBackWhatWasCompressed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	for _, size := range []int{0, 1, 4, 12, 13, 17, 18, 19, 64, 255, 270, 271, 1000, 70_000, 300_000} {
		for _, letters := range []int{1, 2, 4, 60, 256} {
			entry := make([]byte, size)
			for i := range entry {
				entry[i] = byte(random.IntN(letters)) //nolint:gosec // below 256
			}
			if size > 500 && letters > 4 { // parts of the dictionary, and of itself
				copy(entry[100:], dictionary1[len(dictionary1)-200:])
				copy(entry[size-200:], entry[50:240])
			}
			block := dict1().appendBlock(nil, entry)
			got := make([]byte, size)
			if !dict1().expand(got, block) || !bytes.Equal(got, entry) {
				t.Errorf("%d bytes of %d letters are not what they were", size, letters)
			}
			if size > 0 && dict1().expand(make([]byte, size-1), block) || dict1().expand(make([]byte, size+1), block) {
				t.Errorf("%d bytes of %d letters: a wrong size is not noticed", size, letters)
			}
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(usual(f))
	f.Add(sealed(f, usual(f)))
	f.Add([]byte{framing1})
	f.Add([]byte{framing2})
	f.Add([]byte{framing3})
	f.Add([]byte{framing4})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Open(b, 300) // no panic
		if len(b) >= ledger.MaxEntrySize {
			return
		}
		entry := append([]byte{plainEntry}, b...)
		if got, err := Open(sealed(t, entry), 300); err != nil || !bytes.Equal(got.Bytes, entry) {
			t.Fatal(err)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	entry := usual(b)
	var buf []byte
	for b.Loop() {
		buf, _ = Append(buf[:0], entry)
	}
	b.ReportMetric(float64(len(buf))/float64(len(entry)), "of-plain")
}
