package server

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// verified verifies a data directory as trapeze verify does, and returns what was found.
func verified(t *testing.T, dir string, kept ...proof.Checkpoint) (found []proof.Finding) {
	t.Helper()
	r, err := OpenRecord(dir)
	if err != nil {
		return []proof.Finding{{What: err.Error()}}
	}
	defer r.Close()
	damaged, err := r.CheckFile(t.Context())
	if err != nil {
		damaged = append(damaged, err.Error())
	}
	for _, what := range damaged {
		found = append(found, proof.Finding{What: what})
	}
	tree, err := os.Open(filepath.Join(dir, "proof", "tree"))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	info, err := tree.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c, err := checkpointIn(t, dir)
	if err != nil {
		return append(found, proof.Finding{What: err.Error()})
	}
	report, err := proof.VerifyRecord(t.Context(), r, proof.Evidence{Stored: proof.Stored{From: tree}, Leaves: proof.Leaves(info.Size()), Checkpoints: append(kept, c)})
	if err != nil {
		report.Findings = append(report.Findings, proof.Finding{What: err.Error()})
	}
	return append(found, report.Findings...)
}

func checkpointIn(t *testing.T, dir string) (proof.Checkpoint, error) {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, "proof", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	keys, err := proof.ParseKeys(string(read("keys")))
	if err != nil {
		return proof.Checkpoint{}, err
	}
	return proof.OpenCheckpoint(read("checkpoint"), keys)
}

// recorded is a data directory with two tasks, whose server is stopped; where the entries of the first one are; and the receipt and the
// checkpoint that were fetched between the tasks.
func recorded(t *testing.T) (dir string, entries map[int][]byte, receipt []byte, kept proof.Checkpoint) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	task := paid(t, s)
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b bytes.Buffer
	if err := admin.New(c).HandoffReceipt(t.Context(), task+".h1", &b); err != nil {
		t.Fatal(err)
	}
	var note, keys bytes.Buffer
	for _, err := range []error{admin.New(c).Checkpoint(t.Context(), &note), admin.New(c).ProofKeys(t.Context(), &keys)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	public, err := proof.ParseKeys(keys.String())
	if err != nil {
		t.Fatal(err)
	}
	if kept, err = proof.OpenCheckpoint(note.Bytes(), public); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RegisterAgent(t.Context(), "eve", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	return dir, stored(t, dir, task), b.Bytes(), kept
}

func TestAReceiptStandsWithoutTheServer(t *testing.T) {
	t.Parallel()
	dir, _, receipt, _ := recorded(t)
	text, err := os.ReadFile(filepath.Join(dir, "proof", "keys"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys(string(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := proof.VerifyReceipt(receipt, keys)
	if err != nil || len(r.Handoffs) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	h := r.Handoffs[0]
	if h.From != "ann" || h.To != "bob" || h.Epoch != 2 || !strings.HasPrefix(h.Envelope, "sha256:") || h.Asked.IsZero() || h.Accepted.Before(h.Asked) || h.Moved.IsZero() {
		t.Errorf("the receipt shows %+v", h)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // reproducible on purpose
	for range 300 {
		changed := bytes.Clone(receipt)
		bit := random.IntN(len(changed) * 8)
		changed[bit/8] ^= 1 << (bit % 8)
		if got, err := proof.VerifyReceipt(changed, keys); err == nil {
			t.Fatalf("with bit %d changed, the receipt shows %+v", bit, got)
		}
	}
}

func TestOnlyThoseWhoReadTheEntriesGetAReceiptAndOnlyAuditorsTheTree(t *testing.T) {
	s := open(t, t.TempDir())
	task := paid(t, s)
	owner, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	as := func(role client.Role, name string) *client.Client {
		if role == client.RoleAgent {
			if _, err := owner.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
				t.Fatal(err)
			}
		}
		made, err := owner.CreateToken(t.Context(), client.TokenInput{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(s.URL(), made.Text, client.Options{Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	auditor, stranger := as(client.RoleAuditor, "vera"), as(client.RoleAgent, "carl")
	ctx := t.Context()
	for what, err := range map[string]error{
		"a receipt":    admin.New(stranger).HandoffReceipt(ctx, task+".h1", io.Discard),
		"a checkpoint": admin.New(stranger).Checkpoint(ctx, io.Discard),
		"a tile":       stranger.Fetch(ctx, "/v1/proof/tile/0/000.p/1", io.Discard),
	} {
		if err == nil {
			t.Errorf("a stranger gets %s", what)
		}
	}
	var tile bytes.Buffer
	for what, err := range map[string]error{
		"the keys, by a stranger": admin.New(stranger).ProofKeys(ctx, io.Discard),
		"a receipt":               admin.New(auditor).HandoffReceipt(ctx, task+".h1", io.Discard),
		"a checkpoint":            admin.New(auditor).Checkpoint(ctx, io.Discard),
		"a tile":                  auditor.Fetch(ctx, "/v1/proof/tile/0/000.p/3", &tile),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if tile.Len() != 3*32 {
		t.Errorf("a tile of three hashes has %d bytes", tile.Len())
	}
	for _, handoff := range []string{task + ".h7", "task_x.h1", "nothing"} {
		if err := admin.New(auditor).HandoffReceipt(ctx, handoff, io.Discard); err == nil {
			t.Errorf("there is a receipt of %s", handoff)
		}
	}
}

func views(t *testing.T, dir string) []string {
	t.Helper()
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found, err := r.CheckViews(t.Context(), nil)
	if _, none := errors.AsType[*proof.NotCompared](err); err != nil && !none { // trapeze verify names it, too
		found = append(found, err.Error())
	}
	return found
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// missing returns which artifacts are missing in a closed data directory.
func missing(t *testing.T, dir string) []string {
	t.Helper()
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.CheckFiles(t.Context())
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return found
}
