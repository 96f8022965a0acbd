package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Options of a store. The zero value is usable.
type Options struct {
	MaxSize int64            // bytes of one artifact; 0 means [artifact.DefaultMaxSize]
	Quota   artifact.Quota   // of each workspace; fields that are 0 mean the defaults
	Now     func() time.Time // nil means time.Now
}

// Store stores artifacts in a database.
type Store struct {
	pool  *pgxpool.Pool
	in    func(query string) string // with the schema of the tables
	max   int64
	quota artifact.Quota
	now   func() time.Time
	check func(workspace string, would artifact.Quota) error // nil: none
}

var _ artifact.Store = (*Store)(nil)

// Unfinished content is deleted by sweeps when it is this old.
const abandoned = 24 * time.Hour

const creation = `
CREATE TABLE IF NOT EXISTS S.artifact(
	workspace text COLLATE "C" NOT NULL,
	digest text COLLATE "C" NOT NULL,
	size bigint NOT NULL,
	touched timestamptz NOT NULL,
	content bigint NOT NULL,
	PRIMARY KEY (workspace, digest)
);
CREATE TABLE IF NOT EXISTS S.artifact_piece(
	content bigint NOT NULL,
	number int NOT NULL,
	bytes bytea NOT NULL,
	PRIMARY KEY (content, number)
);
ALTER TABLE S.artifact_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS S.artifact_content(
	content bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	begun timestamptz NOT NULL DEFAULT now()
);
`

// Open returns the store in a schema of a database, in which it creates its tables if there are none. Close closes the pool.
func Open(ctx context.Context, pool *pgxpool.Pool, schema string, o Options) (*Store, error) {
	if o.MaxSize == 0 {
		o.MaxSize = artifact.DefaultMaxSize
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{pool: pool, in: strings.NewReplacer("S.", schema+".").Replace, max: o.MaxSize, quota: o.Quota.WithDefaults(), now: o.Now}
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Front ends that are started together create the tables once.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext($1))", "trapeze_"+schema); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, s.in(creation))
		return err
	})
	if err != nil {
		return nil, failed(err)
	}
	return s, nil
}

// Put implements [artifact.Store]. It also writes content that is already stored, which repairs what is damaged.
func (s *Store) Put(ctx context.Context, workspace string, r io.Reader) (artifact.Info, error) {
	if err := (artifact.Key{Workspace: workspace, Digest: artifact.DigestOf(nil)}).Check(); err != nil {
		return artifact.Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return artifact.Info{}, err
	}
	var content int64
	if err := s.pool.QueryRow(ctx, s.in("INSERT INTO S.artifact_content DEFAULT VALUES RETURNING content")).Scan(&content); err != nil {
		return artifact.Info{}, failed(err)
	}
	info, err := s.write(ctx, content, r)
	if err == nil {
		err = s.commit(ctx, content, workspace, info)
	}
	if err != nil {
		s.drop(ctx, content)
		return artifact.Info{}, err
	}
	return info, nil
}

// write stores the content of r in pieces.
func (s *Store) write(ctx context.Context, content int64, r io.Reader) (artifact.Info, error) {
	return artifact.WritePieces(r, s.max, func(number int, piece []byte) error {
		_, err := s.pool.Exec(ctx, s.in("INSERT INTO S.artifact_piece VALUES($1, $2, $3)"), content, number, piece)
		return failed(err)
	})
}

// commit makes content that was stored an artifact, if the quota allows it.
func (s *Store) commit(ctx context.Context, content int64, workspace string, info artifact.Info) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// The lock makes the quota exact. The numbers of its kind are of artifacts alone.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(1953653110, hashtext($1))", s.in("S.")+workspace); err != nil {
			return err
		}
		useless, err := s.supersede(ctx, tx, content, workspace, info)
		if err != nil {
			return err
		}
		if useless == content { // readers of what is there go on
			_, err = tx.Exec(ctx, s.in("UPDATE S.artifact SET touched = greatest(touched, $3) WHERE workspace = $1 AND digest = $2"), workspace, info.Digest, s.now())
		} else {
			_, err = tx.Exec(ctx, s.in(`INSERT INTO S.artifact VALUES($1, $2, $3, $4, $5)
				ON CONFLICT (workspace, digest) DO UPDATE SET size = excluded.size, touched = excluded.touched, content = excluded.content`),
				workspace, info.Digest, info.Size, s.now(), content)
		}
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(s.in("DELETE FROM S.artifact_piece WHERE content = $1"), useless)
		b.Queue(s.in("DELETE FROM S.artifact_content WHERE content = $1"), content)
		return tx.SendBatch(ctx, b).Close()
	})
	return failed(err)
}

// supersede returns which content an artifact needs no longer: the new, if what is there is the same; what is there, if it was damaged; 0, if there is none
// and the quota allows one more.
func (s *Store) supersede(ctx context.Context, tx pgx.Tx, content int64, workspace string, info artifact.Info) (useless int64, err error) {
	var old, size int64
	err = tx.QueryRow(ctx, s.in("SELECT content, size FROM S.artifact WHERE workspace = $1 AND digest = $2 FOR UPDATE"), workspace, info.Digest).Scan(&old, &size)
	if errors.Is(err, pgx.ErrNoRows) {
		var used artifact.Quota
		if err := tx.QueryRow(ctx, s.in(usage), workspace).Scan(&used.Bytes, &used.Count); err != nil {
			return 0, err
		}
		would := artifact.Quota{Bytes: used.Bytes + info.Size, Count: used.Count + 1}
		if s.check != nil {
			if err := s.check(workspace, would); err != nil {
				return 0, err
			}
		}
		return 0, s.quota.Check(would)
	}
	if err != nil {
		return 0, err
	}
	var differ bool
	err = tx.QueryRow(ctx, s.in(`SELECT EXISTS (SELECT FROM (SELECT * FROM S.artifact_piece WHERE content = $1) a
		FULL JOIN (SELECT * FROM S.artifact_piece WHERE content = $2) b USING (number) WHERE a.bytes IS DISTINCT FROM b.bytes)`), old, content).Scan(&differ)
	if differ || size != info.Size {
		return old, err
	}
	return content, err
}

// drop deletes content that belongs to no artifact; what is left is for a sweep.
func (s *Store) drop(ctx context.Context, content int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Its commit may have happened although the answer was lost: then its row is gone, and it stays.
		done, err := tx.Exec(ctx, s.in("DELETE FROM S.artifact_content WHERE content = $1"), content)
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, s.in("DELETE FROM S.artifact_piece WHERE content = $1"), content)
		return err
	})
}

// Get implements [artifact.Store].
func (s *Store) Get(ctx context.Context, k artifact.Key) (io.ReadCloser, artifact.Info, error) {
	if err := k.Check(); err != nil {
		return nil, artifact.Info{}, err
	}
	info := artifact.Info{Digest: k.Digest}
	const find = "SELECT size, content FROM S.artifact WHERE workspace = $1 AND digest = $2"
	var content int64
	if err := s.pool.QueryRow(ctx, s.in(find), k.Workspace, k.Digest).Scan(&info.Size, &content); err != nil {
		return nil, artifact.Info{}, missing(k, err)
	}
	// No connection is held between two pieces.
	return artifact.Verified(&artifact.Pieces{
		Left: info.Size,
		Load: func(number int) (b []byte, err error) {
			err = s.pool.QueryRow(ctx, s.in("SELECT bytes FROM S.artifact_piece WHERE content = $1 AND number = $2"), content, number).Scan(&b)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil, nil
			}
			return b, failed(err)
		},
		Lost: func() error { // it was swept while it was read
			var size, content int64
			if err := s.pool.QueryRow(ctx, s.in(find), k.Workspace, k.Digest).Scan(&size, &content); err != nil {
				return missing(k, err)
			}
			return nil
		},
	}, k.Digest), info, nil
}

// Touch implements [artifact.Store].
func (s *Store) Touch(ctx context.Context, k artifact.Key) (artifact.Info, error) {
	if err := k.Check(); err != nil {
		return artifact.Info{}, err
	}
	info := artifact.Info{Digest: k.Digest}
	err := s.pool.QueryRow(ctx, s.in("UPDATE S.artifact SET touched = greatest(touched, $3) WHERE workspace = $1 AND digest = $2 RETURNING size"),
		k.Workspace, k.Digest, s.now()).Scan(&info.Size)
	if err != nil {
		return artifact.Info{}, missing(k, err)
	}
	return info, nil
}

// usage is what the artifacts of a workspace take.
const usage = "SELECT coalesce(sum(size), 0)::bigint, count(*) FROM S.artifact WHERE workspace = $1"

// Used implements [artifact.Store]. While the database does not answer, it is nothing.
func (s *Store) Used(workspace string) (used artifact.Quota) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.pool.QueryRow(ctx, s.in(usage), workspace).Scan(&used.Bytes, &used.Count) != nil {
		return artifact.Quota{}
	}
	return used
}

// Restrict implements [artifact.Store].
func (s *Store) Restrict(check func(workspace string, would artifact.Quota) error) { s.check = check }

// Close implements [artifact.Store].
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

func missing(k artifact.Key, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return artifact.NotFound(k)
	}
	return failed(err)
}

// failed is the error of a call that did nothing.
func failed(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if e.Code == "53100" {
			return artifact.Full("that of the PostgreSQL server")
		}
		return fmt.Errorf("artifacts: %w", err)
	}
	return err
}
