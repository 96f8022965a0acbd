//go:build outside

package outside

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the database of litewitness

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// TestAWitnessOfOthersCosigns: litewitness of filippo.io/torchwood cosigns the checkpoints of a server, and refuses those of an older copy of its data.
func TestAWitnessOfOthersCosigns(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	command := func(at string, args ...string) *exec.Cmd {
		return program.Command(append([]string{"serve", "--data-dir", at, "--addr", "127.0.0.1:0", "--json"}, args...)...)
	}
	first, err := program.Serve(command(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "old")
	if err := os.CopyFS(old, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	keys, err := os.ReadFile(filepath.Join(data, "proof", "keys"))
	if err != nil {
		t.Fatal(err)
	}
	url, key, witness := litewitness(t, strings.TrimSpace(string(keys)))

	s, err := program.Serve(command(data, "--witness", url+"="+key.String()))
	if err != nil {
		t.Fatal(err)
	}
	boss := connect(t, s.URL, tokenIn(t, data))
	for range 3 { // each is a checkpoint that continues the one before
		var r admin.Receipt
		await(t, "that the witness cosigns", witness, func() bool {
			if _, err := boss.CreateTask(admin.WithReceipt(t.Context(), &r), client.CreateInput{Intent: "pay the invoice"}); err != nil {
				t.Fatal(err)
			}
			list, err := proof.ParseInclusions([]byte(r.Text))
			if err != nil {
				t.Fatalf("%v: %s", err, r.Missing)
			}
			_, err = proof.CheckCosignatures(list[0].Checkpoint, []proof.WitnessKey{key}, 1)
			return err == nil
		})
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	s, err = program.Serve(command(old, "--witness", url+"="+key.String()))
	if err != nil {
		t.Fatal(err)
	}
	boss = connect(t, s.URL, tokenIn(t, old))
	await(t, "that the alert witness-refuses is raised", witness, func() bool {
		list, err := admin.New(boss).Alerts(t.Context(), admin.AlertOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Alerts {
			if a.Name == "witness-refuses" {
				return true
			}
		}
		return false
	})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
}

// litewitness runs a witness of the log with a public key, and returns where it is, its own key and what it writes.
func litewitness(t *testing.T, log string) (url string, key proof.WitnessKey, said *output) {
	t.Helper()
	witness := installed(t, "bin/litewitness")
	dir, err := os.MkdirTemp("", "w") //nolint:usetesting // a short one: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	in := func(name string) string { return filepath.Join(dir, name) }
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", in("key"))
	agent := runs(t, exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", in("agent")))
	await(t, "that ssh-agent listens", agent, func() bool { _, err := os.Stat(in("agent")); return err == nil })
	add := exec.CommandContext(t.Context(), "ssh-add", in("key"))
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+in("agent"))
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s %s", err, out, agent)
	}
	fingerprint, err := exec.CommandContext(t.Context(), "ssh-keygen", "-l", "-f", in("key")).Output()
	if err != nil {
		t.Fatal(err)
	}

	origin, _, _ := strings.Cut(log, "+")
	db, err := sql.Open("sqlite", in("db"))
	if err != nil {
		t.Fatal(err)
	}
	empty := new(proof.Tree).Root()
	for _, do := range [][]any{
		{"CREATE TABLE log (origin TEXT PRIMARY KEY, tree_size INTEGER NOT NULL, tree_hash TEXT NOT NULL)"},
		{"CREATE TABLE key (origin TEXT NOT NULL, key TEXT NOT NULL, FOREIGN KEY(origin) REFERENCES log(origin))"},
		{"INSERT INTO log VALUES (?, 0, ?)", origin, base64.StdEncoding.EncodeToString(empty[:])},
		{"INSERT INTO key VALUES (?, ?)", origin, log},
	} {
		if _, err := db.ExecContext(t.Context(), do[0].(string), do[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	addr := freeaddr.New(t, 1)[0]
	said = runs(t, exec.CommandContext(t.Context(), witness, "-db", in("db"), "-name", "witness.example.com/lite", "-ssh-agent", in("agent"), "-listen", addr, "-key", strings.Fields(string(fingerprint))[1]))
	await(t, "that litewitness listens", said, func() bool {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	var text string
	await(t, "that litewitness says its key", said, func() bool { // what it has said may come after its socket is there
		_, rest, _ := strings.Cut(said.String(), "vkey=")
		line, _, whole := strings.Cut(rest, "\n")
		text = strings.Trim(line, `"`)
		return whole
	})
	if key, err = proof.ParseWitnessKey(text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return "http://" + addr, key, said
}

// tokenIn is the administrator's token in a data directory.
func tokenIn(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// output is what a program writes.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

// String is what the program has written so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// runs starts a program that is killed at the end of the test.
func runs(t *testing.T, cmd *exec.Cmd) *output {
	t.Helper()
	o := &output{}
	cmd.Stdout, cmd.Stderr = o, o
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return o
}

// await waits for a condition. If it never comes, it shows what a program has said.
func await(t *testing.T, what string, said fmt.Stringer, is func() bool) {
	t.Helper()
	for end := time.After(time.Minute); !is(); {
		select {
		case <-end:
			t.Fatalf("it never came %s:\n%s", what, said)
		case <-time.After(50 * time.Millisecond): // between two looks
		}
	}
}
