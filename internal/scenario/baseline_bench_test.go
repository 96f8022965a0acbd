package scenario

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/garbage"
)

// What BenchmarkBaseline found last, and how much more it reports as a regression. The figures are ratios of processor times, and so nearly the same on a
// busy machine.
const (
	recordedBaseline1   = 2.8 // of what the baseline takes, with 1 client
	recordedBaseline100 = 3.4 // with 100 clients
	recordedSync        = 5.3 // median of a commit with 1 client, in medians of a raw fdatasync
	regression          = 1.25
)

var baselineHandoffs = flag.Int("baseline-handoffs", 300, "life cycles of each run of BenchmarkBaseline; .ci/run has 4000")

// BenchmarkBaseline compares the life cycle over HTTP with the least that could do it: a SQLite writer with group commit behind net/http and JSON, which has
// no identity, no rules, no views and no proofs. Each operation is a pair of runs in turn, with the same clients; x-baseline is how many times the
// processor time of the baseline a handoff takes. More than regression times what is recorded here is reported, and is no failure: see .ci/run.
func BenchmarkBaseline(b *testing.B) {
	garbage.Tune()
	for clients, recorded := range map[int]float64{1: recordedBaseline1, 100: recordedBaseline100} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			var processors, throughput []float64
			var commit []float64
			for i := range b.N {
				var f [2]figures // of the baseline, of the server
				for _, of := range [][]int{{0, 1}, {1, 0}}[i%2] {
					f[of] = []func(*testing.B, int) figures{driveBaseline, driveServer}[of](b, clients)
				}
				processors = append(processors, float64(f[1].cpu)/float64(f[0].cpu))
				throughput = append(throughput, f[1].perSecond/f[0].perSecond)
				commit = append(commit, float64(f[1].commit))
			}
			b.ReportMetric(middle(processors), "x-baseline")
			b.ReportMetric(middle(throughput), "throughput-of-baseline")
			b.ReportMetric(0, "ns/op")
			compare(b, "processor time in times the baseline's", middle(processors), recorded)
			if clients == 1 {
				raw, err := ledgertest.RawSync(b.TempDir(), 1024, 500)
				if err != nil {
					b.Fatal(err)
				}
				sync := middle(commit) / float64(raw)
				b.ReportMetric(sync, "x-fsync")
				compare(b, "commit in times a raw fdatasync", sync, recordedSync)
			}
		})
	}
}

// compare reports a regression.
func compare(b *testing.B, what string, is, recorded float64) {
	if is > regression*recorded {
		b.Logf("REGRESSION? %s: %.2f, recorded are %.2f", what, is, recorded)
	}
}

func driveServer(b *testing.B, clients int) figures {
	s, err := server.Open(context.Background(), server.Config{DataDir: b.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	tokens, _ := httpAgents(b, s.URL(), s.AdminTokenFile())
	return driveBare(b, s.URL(), clients, func(c *bare, n int, took func(time.Duration)) error { return lifecycleHTTP(c, tokens, n, took) })
}

// driveBare runs life cycles from clients with a connection each.
func driveBare(b *testing.B, url string, clients int, life func(c *bare, n int, took func(time.Duration)) error) figures {
	pool := make(chan *bare, clients)
	for range clients {
		pool <- dialBare(b, url)
	}
	return drive(b, clients, *baselineHandoffs, func(n int, took func(time.Duration)) error {
		c := <-pool
		defer func() { pool <- c }()
		return life(c, n, took)
	})
}

func driveBaseline(b *testing.B, clients int) figures {
	f := openBaseline(b)
	defer f.close(b)
	url := httptest.NewServer(f)
	defer url.Close()
	var last atomic.Int64
	return driveBare(b, url.URL, clients, func(c *bare, _ int, took func(time.Duration)) error {
		id := last.Add(1)
		for i, data := range []string{string(kib), `""`, `""`} {
			began := time.Now()
			_, err := c.post("none", "/", fmt.Sprintf(`{"id":%d,"from":%d,"data":%s}`, id, i, data))
			if took(time.Since(began)); err != nil {
				return err
			}
		}
		return nil
	})
}

// baselineStep moves a handoff of the baseline on: from 0 it is made.
type baselineStep struct {
	ID   int64           `json:"id"`
	From int             `json:"from"`
	Data json.RawMessage `json:"data"`
	done chan error
}

// baseline is one goroutine that commits all waiting steps at once.
type baseline struct {
	db    *sql.DB
	queue chan baselineStep
	ended chan struct{}
}

func openBaseline(b *testing.B) *baseline {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "baseline.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate")
	if err == nil {
		db.SetMaxOpenConns(1)
		_, err = db.Exec(`CREATE TABLE entry(n INTEGER PRIMARY KEY, handoff INTEGER NOT NULL, state INTEGER NOT NULL, data TEXT NOT NULL);
			CREATE TABLE handoff(id INTEGER PRIMARY KEY, state INTEGER NOT NULL)`)
	}
	if err != nil {
		b.Fatal(err)
	}
	f := &baseline{db, make(chan baselineStep, 1024), make(chan struct{})}
	go f.run()
	return f
}

func (f *baseline) close(b *testing.B) {
	close(f.queue)
	<-f.ended
	if err := f.db.Close(); err != nil {
		b.Error(err)
	}
}

// ServeHTTP makes a step, and answers when it is on the disk.
func (f *baseline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := baselineStep{done: make(chan error, 1)}
	err := json.NewDecoder(r.Body).Decode(&s)
	if err == nil {
		f.queue <- s
		err = <-s.done
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": s.ID, "state": s.From + 1}) // the client is gone
}

func (f *baseline) run() {
	defer close(f.ended)
	var batch []baselineStep
	for first := range f.queue {
		batch = append(batch[:0], first)
		for n := len(f.queue); n > 0; n-- {
			batch = append(batch, <-f.queue)
		}
		err := f.commit(batch)
		for _, s := range batch {
			s.done <- err
		}
	}
}

func (f *baseline) commit(batch []baselineStep) error {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // after the commit there is nothing to roll back
	for _, s := range batch {
		move, args := "UPDATE handoff SET state = state + 1 WHERE id = ? AND state = ?", []any{s.ID, s.From}
		if s.From == 0 {
			move, args = "INSERT INTO handoff(id, state) VALUES(?, 1)", args[:1]
		}
		moved, err := tx.Exec(move, args...)
		if err != nil {
			return err
		}
		if n, err := moved.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, fmt.Errorf("handoff %d is not in state %d", s.ID, s.From))
		}
		if _, err := tx.Exec("INSERT INTO entry(handoff, state, data) VALUES(?, ?, ?)", s.ID, s.From+1, string(s.Data)); err != nil {
			return err
		}
	}
	return tx.Commit()
}
