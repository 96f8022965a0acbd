//go:build outside

package pgstore_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/artifacttest"
	"github.com/trapezehq/trapeze/internal/files/artifact/pgstore"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

func pool(t *testing.T, s *pgtest.Server) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t *testing.T, s *pgtest.Server, schema string, o pgstore.Options) *pgstore.Store {
	t.Helper()
	p := pool(t, s)
	if _, err := p.Exec(t.Context(), "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		t.Fatal(err)
	}
	store, err := pgstore.Open(t.Context(), p, schema, o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStorePassesTheSuite(t *testing.T) {
	s := pgtest.Start(t)
	var schemas atomic.Int64
	artifacttest.Run(t, func(t *testing.T, clock *artifacttest.Clock) artifact.Store {
		schema := fmt.Sprintf("test%d", schemas.Add(1))
		return open(t, s, schema, pgstore.Options{MaxSize: artifacttest.MaxSize, Quota: artifacttest.Quota, Now: clock.Now})
	})
}

func TestContentThatWasChangedInTheDatabaseIsDamaged(t *testing.T) {
	s := pgtest.Start(t)
	one, other := open(t, s, "test", pgstore.Options{}), open(t, s, "test", pgstore.Options{})
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
	if err := read(); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{
		"UPDATE test.artifact_piece SET bytes = set_byte(bytes, 7, 1) WHERE number = 2", "UPDATE test.artifact_piece SET bytes = '' WHERE number = 1",
		"DELETE FROM test.artifact_piece WHERE number = 3", "UPDATE test.artifact SET size = size - 1", "UPDATE test.artifact SET size = size + 1",
	} {
		p := pool(t, s)
		if _, err := p.Exec(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		p.Close()
		if err := read(); !errors.Is(err, artifact.ErrCorrupt) {
			t.Errorf("after %s: %v", damage, err)
		}
		if _, err := one.Put(t.Context(), "default", strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if err := read(); err != nil {
			t.Errorf("it is not repaired by putting it again: %v", err)
		}
	}
}

func TestContentThatNeverBecameAnArtifactIsSwept(t *testing.T) {
	s := pgtest.Start(t)
	store := open(t, s, "test", pgstore.Options{})
	defer func() { _ = store.Close() }()
	p := pool(t, s)
	defer p.Close()
	for _, begun := range []string{"now() - interval '25 hours'", "now()"} { // of a process that ended, and of one that still writes
		_, err := p.Exec(t.Context(), `WITH c AS (INSERT INTO test.artifact_content(begun) VALUES(`+begun+`) RETURNING content)
			INSERT INTO test.artifact_piece SELECT content, 0, 'half' FROM c`)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Sweep(t.Context(), artifacttest.NewClock().Now(), nil); err != nil {
		t.Fatal(err)
	}
	var pieces, begun int
	if err := p.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM test.artifact_piece), (SELECT count(*) FROM test.artifact_content)").Scan(&pieces, &begun); err != nil || pieces != 1 || begun != 1 {
		t.Errorf("%d pieces of %d remain, %v", pieces, begun, err)
	}
}
