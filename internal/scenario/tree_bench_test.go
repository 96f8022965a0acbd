package scenario

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/garbage"
)

var (
	treeHandoffs = flag.Int("tree-handoffs", 500, "life cycles of each run of BenchmarkTree; docs/performance.md has 20000")
	proofEntries = flag.Int("proof-entries", 3000, "entries in the record of BenchmarkProofs; docs/performance.md has 1000000")
)

// BenchmarkTree is what the tree costs: pairs of runs of BenchmarkLifecycle with 100 clients in turn, without the tree and with it. Each operation is
// one pair. cost-% is the throughput that is lost, and cpu-cost-% the processor time that a handoff takes more; both are medians of the pairs, and tell little on a
// machine with other work. alone-% does: it is the processor time of a tree that is made of the same entries afterwards, read from the disk, in per cent of
// what the handoffs took.
func BenchmarkTree(b *testing.B) {
	garbage.Tune()
	var cost, processors, plain, size, alone []float64
	for i := range b.N {
		var f [2]figures // without, with
		for _, with := range [][]int{{0, 1}, {1, 0}}[i%2] {
			var bytes, share float64
			f[with], bytes, share = underTree(b, with == 1)
			if with == 1 {
				size, alone = append(size, bytes), append(alone, share)
			}
		}
		cost = append(cost, 100*(1-f[1].perSecond/f[0].perSecond))
		processors = append(processors, 100*(float64(f[1].cpu)/float64(f[0].cpu)-1))
		plain = append(plain, f[0].perSecond)
	}
	b.ReportMetric(middle(cost), "cost-%")
	b.ReportMetric(middle(processors), "cpu-cost-%")
	b.ReportMetric(middle(alone), "alone-%")
	b.ReportMetric(middle(plain), "handoffs/s")
	b.ReportMetric(middle(size), "B/entry")
	b.ReportMetric(0, "ns/op")
}

// underTree is one run on a new record. With a tree, it returns also how many bytes that has for each entry, and its own share of the processor time.
func underTree(b *testing.B, with bool) (f figures, bytes, alone float64) {
	b.Helper()
	h := open(b, sound())
	defer h.stop()
	for i := range benchAgents {
		h.join(agentName(i))
	}
	dir := b.TempDir()
	run := func() {
		f = drive(b, 100, *treeHandoffs, func(n int, took func(time.Duration)) error { return lifecycle(h.app, h, n, took) })
	}
	if !with {
		run()
		return f, 0, 0
	}
	last := followTree(b, h, dir, run)
	before := processor(b)
	followTree(b, h, b.TempDir(), func() {})
	alone = 100 * float64(processor(b)-before) / (float64(f.cpu) * float64(*treeHandoffs))
	return f, float64(fileSize(b, filepath.Join(dir, "tree"))) / float64(last), alone
}

// followTree has a new tree follow a record while a function runs, and until it has all entries. It returns the position of the last.
func followTree(b *testing.B, h *harness, dir string, run func()) ledger.Position {
	b.Helper()
	s, err := treefile.Open(dir, treefile.Options{})
	if err == nil {
		err = s.Check(b.Context(), h.ledger)
	}
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() { s.Run(ctx, h.ledger); close(ended) }()
	run()
	last, err := h.ledger.Last(ctx)
	_, _, err2 := s.Await(ctx, last)
	cancel()
	<-ended
	if err := errors.Join(err, err2, s.Close()); err != nil {
		b.Fatal(err)
	}
	return last
}

func fileSize(b *testing.B, name string) int64 {
	b.Helper()
	info, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkProofs is what proofs of a long record cost: each operation is the receipt of one entry over HTTP, which reads it, proves it and records that it
// was read; prove-p99-µs is the inclusion proof alone. start-ms is a start of the server on the record; verified/s are the entries that trapeze verify
// compares with the tree in a second, and verify-cpu-µs the processor time for each.
func BenchmarkProofs(b *testing.B) {
	garbage.Tune()
	dir := b.TempDir()
	last := fillForProofs(b, dir)
	start := func() (*server.Server, time.Duration) {
		began := time.Now()
		s, err := server.Open(context.Background(), server.Config{DataDir: dir, Addr: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		return s, time.Since(began)
	}
	s, _ := start() // makes the tree
	receipt(b, s, last)
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	s, took := start()
	var all []time.Duration
	b.ResetTimer()
	for range b.N {
		at := ledger.Position(rand.Uint64N(uint64(last)) + 1) //nolint:gosec // which entries are read is no secret
		began := time.Now()
		receipt(b, s, at)
		all = append(all, time.Since(began))
	}
	b.StopTimer()
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(took.Milliseconds()), "start-ms")
	b.ReportMetric(float64(ledgertest.Percentile(all, 50).Microseconds()), "p50-µs")
	b.ReportMetric(float64(ledgertest.Percentile(all, 99).Microseconds()), "p99-µs")
	perSecond, cpu := verified(b, dir)
	b.ReportMetric(perSecond, "verified/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/1000, "verify-cpu-µs")
	b.ReportMetric(float64(fileSize(b, filepath.Join(dir, "proof", "tree")))/float64(last), "B/entry")
	b.ReportMetric(0, "ns/op")
}

// fillForProofs makes a record of handoffs.
func fillForProofs(b *testing.B, dir string) ledger.Position {
	b.Helper()
	h, stop := reopen(b, dir)
	defer stop()
	for i := range benchAgents {
		h.join(agentName(i))
	}
	drive(b, 1000, *proofEntries/3, func(n int, took func(time.Duration)) error { return lifecycle(h.app, h, n, took) })
	last, err := h.ledger.Last(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return last
}

// receipt gets the receipt of an entry.
func receipt(b *testing.B, s *server.Server, at ledger.Position) {
	b.Helper()
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, fmt.Sprintf("%s/v1/proof/receipts/%d", s.URL(), at), nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+string(token))
	for {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			b.Fatal(err)
		}
		switch res.StatusCode {
		case http.StatusOK:
			return
		case http.StatusServiceUnavailable: // the tree of a long record is not made yet
		default:
			b.Fatalf("the receipt of entry %d: %s", at, res.Status)
		}
	}
}

// verified is how fast a record is compared with its tree, and the processor time for one entry.
func verified(b *testing.B, dir string) (perSecond float64, cpu time.Duration) {
	b.Helper()
	record, err := server.OpenRecord(dir)
	if err != nil {
		b.Fatal(err)
	}
	tree, err := os.Open(filepath.Join(dir, "proof", "tree")) //nolint:gosec // of the benchmark
	if err != nil {
		b.Fatal(err)
	}
	stored := proof.Stored{From: tree}
	size := proof.Leaves(fileSize(b, tree.Name()))
	var proofs []time.Duration
	for range 2000 {
		began := time.Now()
		if _, err := proof.Prove(nil, rand.Int64N(size), size, stored, nil); err != nil { //nolint:gosec // as above
			b.Fatal(err)
		}
		proofs = append(proofs, time.Since(began))
	}
	b.ReportMetric(float64(ledgertest.Percentile(proofs, 99).Microseconds()), "prove-p99-µs")
	began, before := time.Now(), processor(b)
	report, err := proof.VerifyRecord(b.Context(), record, proof.Evidence{Stored: stored, Leaves: size})
	took, cpu := time.Since(began), processor(b)-before
	if err = errors.Join(err, tree.Close(), record.Close()); err != nil || len(report.Findings) > 0 {
		b.Fatal(report.Findings, err)
	}
	return float64(report.Entries) / took.Seconds(), cpu / time.Duration(report.Entries)
}
