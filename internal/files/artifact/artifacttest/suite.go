package artifacttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// MaxSize is the size limit of the stores under test.
const MaxSize = 1 << 16

// Quota is the quota of the stores under test.
var Quota = artifact.Quota{Bytes: 3 * MaxSize, Count: 12}

// Clock is the time of a store under test.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that only Advance moves.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Run runs the suite. open returns a new, empty store with the limits [MaxSize] and [Quota].
func Run(t *testing.T, open func(t *testing.T, clock *Clock) artifact.Store) {
	for name, test := range map[string]func(*testing.T, artifact.Store, *Clock){
		"what was put is got back":                     putAndGet,
		"the same content is the same artifact":        putTwice,
		"workspaces do not see each other":             workspaces,
		"what is too large leaves nothing":             tooLarge,
		"a reader that fails leaves nothing":           brokenReader,
		"bad names are refused":                        badNames,
		"a sweep spares the young and the kept":        sweep,
		"putting or touching restarts the grace":       touch,
		"a sweep ends with the first error":            sweepError,
		"what is put during a sweep is there after it": race,
		"a workspace keeps no more than its quota":     quota,
	} {
		t.Run(name, func(t *testing.T) {
			clock := NewClock()
			s := open(t, clock)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test(t, s, clock)
		})
	}
}

const home = "default"

func put(t *testing.T, s artifact.Store, content string) artifact.Key {
	t.Helper()
	info, err := s.Put(t.Context(), home, strings.NewReader(content))
	if err != nil || info.Size != int64(len(content)) || info.Digest != artifact.DigestOf([]byte(content)) {
		t.Fatalf("put %.20q: %+v, %v", content, info, err)
	}
	return artifact.Key{Workspace: home, Digest: info.Digest}
}

func got(t *testing.T, s artifact.Store, k artifact.Key, want string) {
	t.Helper()
	r, info, err := s.Get(t.Context(), k)
	if err != nil {
		t.Fatalf("get %s: %v", k.Digest, err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(b) != want || info.Size != int64(len(want)) || info.Digest != k.Digest {
		t.Fatalf("got %.20q, %+v, %v", b, info, err)
	}
}

func absent(t *testing.T, s artifact.Store, k artifact.Key) {
	t.Helper()
	if _, _, err := s.Get(t.Context(), k); refusal.CodeOf(err) != refusal.NotFound {
		t.Fatalf("get %s: %v, want that it is not there", k.Digest, err)
	}
	if _, err := s.Touch(t.Context(), k); refusal.CodeOf(err) != refusal.NotFound {
		t.Fatalf("touch %s: %v, want that it is not there", k.Digest, err)
	}
}

func putAndGet(t *testing.T, s artifact.Store, _ *Clock) {
	for _, content := range []string{"", "a", strings.Repeat("0123456789abcdef", MaxSize/16), "\x00\xff\r\n"} {
		k := put(t, s, content)
		got(t, s, k, content)
		if info, err := s.Touch(t.Context(), k); err != nil || info.Size != int64(len(content)) {
			t.Errorf("touch: %+v, %v", info, err)
		}
	}
	absent(t, s, artifact.Key{Workspace: home, Digest: artifact.DigestOf([]byte("never put"))})
}

func putTwice(t *testing.T, s artifact.Store, clock *Clock) {
	put(t, s, "a")
	k := put(t, s, "a")
	clock.Advance(time.Hour)
	swept, err := s.Sweep(t.Context(), clock.Now(), func(artifact.Key) (bool, error) { return false, nil })
	if err != nil || swept != (artifact.Swept{Deleted: 1, Freed: 1}) {
		t.Errorf("%+v, %v", swept, err)
	}
	absent(t, s, k)
}

func workspaces(t *testing.T, s artifact.Store, _ *Clock) {
	k := put(t, s, "a secret")
	k.Workspace = "other"
	absent(t, s, k)
}

func tooLarge(t *testing.T, s artifact.Store, _ *Clock) {
	content := strings.Repeat("x", MaxSize+1)
	_, err := s.Put(t.Context(), home, strings.NewReader(content))
	if r, ok := refusal.As(err); !ok || r.Code != refusal.TooLarge || r.Hint == "" {
		t.Errorf("put: %v", err)
	}
	absent(t, s, artifact.Key{Workspace: home, Digest: artifact.DigestOf([]byte(content))})
	put(t, s, content[1:])
	endless := io.MultiReader(strings.NewReader(content), iotest.ErrReader(errors.New("read on after the limit")))
	if _, err := s.Put(t.Context(), home, endless); refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("put: %v", err)
	}
}

func brokenReader(t *testing.T, s artifact.Store, _ *Clock) {
	broken := errors.New("the connection is gone")
	if _, err := s.Put(t.Context(), home, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("put: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, home, strings.NewReader("half")); !errors.Is(err, context.Canceled) {
		t.Errorf("put after the end: %v", err)
	}
	absent(t, s, artifact.Key{Workspace: home, Digest: artifact.DigestOf([]byte("half"))})
}

func badNames(t *testing.T, s artifact.Store, _ *Clock) {
	d := artifact.DigestOf(nil)
	for _, k := range []artifact.Key{
		{Workspace: "", Digest: d},
		{Workspace: "..", Digest: d},
		{Workspace: "a/b", Digest: d},
		{Workspace: home},
		{Workspace: home, Digest: "sha256:../../x"},
		{Workspace: home, Digest: artifact.Digest(strings.ToUpper(string(d)))},
		{Workspace: home, Digest: d[len("sha256:"):]},
		{Workspace: home, Digest: d + "0"},
	} {
		if _, _, err := s.Get(t.Context(), k); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("get %+v: %v", k, err)
		}
		if _, err := s.Touch(t.Context(), k); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("touch %+v: %v", k, err)
		}
	}
	if _, err := s.Put(t.Context(), "../x", strings.NewReader("a")); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("put: %v", err)
	}
}

func sweep(t *testing.T, s artifact.Store, clock *Clock) {
	kept, lost := put(t, s, "kept"), put(t, s, "lost")
	clock.Advance(time.Hour)
	young := put(t, s, "young")
	swept, err := s.Sweep(t.Context(), clock.Now(), func(k artifact.Key) (bool, error) {
		if k == young {
			t.Error("asked about one that is too young")
		}
		return k == kept, nil
	})
	if err != nil || swept != (artifact.Swept{Kept: 2, Deleted: 1, Freed: 4}) {
		t.Errorf("%+v, %v", swept, err)
	}
	got(t, s, kept, "kept")
	got(t, s, young, "young")
	absent(t, s, lost)
}

func touch(t *testing.T, s artifact.Store, clock *Clock) {
	one, two, three := put(t, s, "one"), put(t, s, "two"), put(t, s, "three")
	clock.Advance(time.Hour)
	put(t, s, "one")
	if _, err := s.Touch(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	before := clock.Now()
	clock.Advance(time.Hour)
	asked := 0
	swept, err := s.Sweep(t.Context(), before, func(k artifact.Key) (bool, error) {
		asked++
		_, err := s.Touch(t.Context(), k) // an envelope is sealed while the sweep asks
		return false, err
	})
	if err != nil || swept.Kept != 3 || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", swept, err, asked)
	}
	got(t, s, one, "one")
	got(t, s, two, "two")
	got(t, s, three, "three")
}

func sweepError(t *testing.T, s artifact.Store, clock *Clock) {
	k := put(t, s, "one")
	clock.Advance(time.Hour)
	unsure := errors.New("not known")
	if _, err := s.Sweep(t.Context(), clock.Now(), func(artifact.Key) (bool, error) { return false, unsure }); !errors.Is(err, unsure) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sweep(ctx, clock.Now(), func(artifact.Key) (bool, error) { return false, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	got(t, s, k, "one")
}

func quota(t *testing.T, s artifact.Store, clock *Clock) {
	refused := func(content string) {
		t.Helper()
		_, err := s.Put(t.Context(), home, strings.NewReader(content))
		if r, ok := refusal.As(err); !ok || r.Code != refusal.Limit || r.Hint == "" {
			t.Fatalf("put %.20q: %v", content, err)
		}
		absent(t, s, artifact.Key{Workspace: home, Digest: artifact.DigestOf([]byte(content))})
	}
	large := func(letter string) string { return strings.Repeat(letter, MaxSize) }
	for _, letter := range []string{"a", "b", "c"} {
		put(t, s, large(letter))
	}
	put(t, s, large("a")) // again is no more
	refused("d")
	if _, err := s.Put(t.Context(), "other", strings.NewReader("d")); err != nil {
		t.Errorf("another workspace: %v", err)
	}
	empty(t, s, clock)
	for n := range Quota.Count {
		put(t, s, strings.Repeat("x", n))
	}
	refused("one too many")
	put(t, s, "xx")
	empty(t, s, clock)
	put(t, s, "one too many")
}

// empty has everything swept.
func empty(t *testing.T, s artifact.Store, clock *Clock) {
	t.Helper()
	clock.Advance(time.Hour)
	if _, err := s.Sweep(t.Context(), clock.Now(), func(artifact.Key) (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
}

// race puts the same few artifacts from many goroutines while they are swept: a goroutine that has put one finds it until the
// grace is over.
func race(t *testing.T, s artifact.Store, clock *Clock) {
	before := clock.Now() // everything old is swept; what is put from now on is young
	content := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, 1000+n) }
	for n := range 8 {
		put(t, s, string(content(n)))
	}
	clock.Advance(time.Hour)
	before = before.Add(time.Minute)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range 8 {
				info, err := s.Put(t.Context(), home, bytes.NewReader(content(n)))
				if err == nil {
					err = read(t.Context(), s, artifact.Key{Workspace: home, Digest: info.Digest})
				}
				if err != nil {
					t.Errorf("artifact %d: %v", n, err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			if _, err := s.Sweep(t.Context(), before, func(artifact.Key) (bool, error) { return false, nil }); err != nil {
				t.Errorf("sweep: %v", err)
			}
		})
	}
	wg.Wait()
	for n := range 8 {
		got(t, s, artifact.Key{Workspace: home, Digest: artifact.DigestOf(content(n))}, string(content(n)))
	}
}

func read(ctx context.Context, s artifact.Store, k artifact.Key) error {
	r, _, err := s.Get(ctx, k)
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}
