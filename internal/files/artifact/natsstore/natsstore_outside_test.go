//go:build outside

package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/artifacttest"
	"github.com/trapezehq/trapeze/internal/files/artifact/natsstore"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

func open(t *testing.T, c *natstest.Cluster, node int, o natsstore.Options) *natsstore.Store {
	t.Helper()
	return openAs(t, c, node, o, func(b jetstream.KeyValue) jetstream.KeyValue { return b })
}

// openAs opens a store that sees the bucket as the function makes it.
func openAs(t *testing.T, c *natstest.Cluster, node int, o natsstore.Options, as func(jetstream.KeyValue) jetstream.KeyValue) *natsstore.Store {
	t.Helper()
	js, err := jetstream.New(c.Connect(t, node))
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := natslog.Bucket(t.Context(), js, o.Name+"_ARTIFACTS", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := natsstore.Open(t.Context(), js, as(bucket), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStorePassesTheSuite(t *testing.T) {
	c := natstest.Start(t, 3)
	var names atomic.Int64
	artifacttest.Run(t, func(t *testing.T, clock *artifacttest.Clock) artifact.Store {
		n := names.Add(1)
		return open(t, c, int(n), natsstore.Options{Replicas: 3, Name: fmt.Sprint("T", n), MaxSize: artifacttest.MaxSize, Quota: artifacttest.Quota, Now: clock.Now})
	})
}

func TestWhatIsPutAtOneFrontEndIsReadAndCountedAtAnother(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natsstore.Options{Replicas: 3, Name: "T", Quota: artifact.Quota{Count: 30}}
	one, other := open(t, c, 0, o), open(t, c, 1, o)
	defer func() { _, _ = one.Close(), other.Close() }()
	for n := range 30 {
		content := strings.Repeat(fmt.Sprint("piece ", n, "\n"), 1+n*3000) // the last in several pieces
		info, err := one.Put(t.Context(), "default", strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := other.Get(t.Context(), artifact.Key{Workspace: "default", Digest: info.Digest})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != content {
			t.Fatalf("%d of %d bytes, %v", len(b), len(content), err)
		}
	}
	for end := time.Now().Add(time.Minute); other.Used("default").Count < 30; <-time.After(10 * time.Millisecond) { // until it has heard of all
		if time.Now().After(end) {
			t.Fatalf("it has heard of %d of 30", other.Used("default").Count)
		}
	}
	if _, err := other.Put(t.Context(), "default", strings.NewReader("one too many")); refusal.CodeOf(err) != refusal.Limit {
		t.Errorf("beyond the quota: %v", err)
	}
	var listed int
	if err := other.Each(t.Context(), func(artifact.Key) { listed++ }); err != nil || listed != 30 {
		t.Errorf("%d are listed, %v", listed, err)
	}
}

// behind is a bucket whose lists are read from a replica that has had none of it yet.
type behind struct{ jetstream.KeyValue }

type late struct {
	jetstream.KeyWatcher
	updates <-chan jetstream.KeyValueEntry
}

func (l late) Updates() <-chan jetstream.KeyValueEntry { return l.updates }

func (b behind) WatchAll(ctx context.Context, o ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	w, err := b.KeyValue.WatchAll(ctx, o...)
	if err != nil {
		return nil, err
	}
	updates := make(chan jetstream.KeyValueEntry)
	go func() {
		defer close(updates)
		send := func(e jetstream.KeyValueEntry) {
			select {
			case updates <- e:
			case <-ctx.Done():
			}
		}
		send(nil)
		for e := range w.Updates() {
			if e != nil {
				send(e)
			}
		}
	}()
	return late{w, updates}, nil
}

func TestAListIsCompleteThoughTheReplicaThatIsReadIsBehind(t *testing.T) {
	c := natstest.Start(t, 3)
	now := time.Now()
	s := openAs(t, c, 0, natsstore.Options{Replicas: 3, Name: "T", Now: func() time.Time { return now }}, func(b jetstream.KeyValue) jetstream.KeyValue { return behind{b} })
	defer func() { _ = s.Close() }()
	for _, content := range []string{"one", "two", "three"} {
		if _, err := s.Put(t.Context(), "default", strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	two := artifact.DigestOf([]byte("two"))
	for range 2 { // the second time, the newest change of the bucket is a deletion
		swept, err := s.Sweep(ctx, now.Add(time.Hour), func(k artifact.Key) (bool, error) { return k.Digest != two, nil })
		if err != nil || swept.Kept != 2 {
			t.Errorf("%+v, %v", swept, err)
		}
		var listed int
		if err := s.Each(ctx, func(artifact.Key) { listed++ }); err != nil || listed != 2 {
			t.Errorf("%d are listed, %v", listed, err)
		}
	}
}

func TestContentThatWasChangedInTheStreamIsDamagedAndRepairedByPuttingItAgain(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natsstore.Options{Replicas: 3, Name: "T"}
	one, other := open(t, c, 0, o), open(t, c, 1, o)
	defer func() { _, _ = one.Close(), other.Close() }()
	content := strings.Repeat("0123456789", 100_000) // several pieces
	info, err := one.Put(t.Context(), "default", strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	k := artifact.Key{Workspace: "default", Digest: info.Digest}
	read := func() error {
		r, _, err := other.Get(t.Context(), k)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err == nil && string(b) != content {
			t.Error("other content was read without an error")
		}
		return err
	}
	js, err := jetstream.New(c.Connect(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "T_FILES")
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(subject string) error{
		"another byte": func(subject string) error {
			_, err := js.Publish(t.Context(), subject, []byte(strings.Repeat("x", 256<<10)))
			return err
		},
		"a short piece": func(subject string) error { _, err := js.Publish(t.Context(), subject, []byte("x")); return err },
		"a missing piece": func(subject string) error {
			return stream.Purge(t.Context(), jetstream.WithPurgeSubject(subject))
		},
	} {
		if err := read(); err != nil {
			t.Fatal(err)
		}
		info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter("t.f.*.1"))
		if err != nil || len(info.State.Subjects) != 1 {
			t.Fatalf("%v, %v", info.State.Subjects, err)
		}
		for subject := range info.State.Subjects {
			if err := damage(subject); err != nil {
				t.Fatal(err)
			}
		}
		if err := read(); !errors.Is(err, artifact.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := one.Put(t.Context(), "default", strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := read(); err != nil {
		t.Errorf("it is not repaired: %v", err)
	}
}
