//go:build outside

package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// TestALibraryOfOthersVerifiesReceipts: the log client of Sigstore accepts the receipt of a handoff, in a log of many entries, and refuses it with any bit
// changed that is read.
func TestALibraryOfOthersVerifiesReceipts(t *testing.T) {
	url, token := serve(t)
	boss := connect(t, url, token)
	var handoffs []string
	for _, name := range []string{"ann", "bob"} {
		if _, err := boss.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	bob, err := boss.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	to := connect(t, url, bob.Text)
	for i := range 5 {
		made, err := boss.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprint("pay invoice ", i), Send: &client.SendInput{To: []string{"bob"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Accept(t.Context(), made.Handoff, client.AcceptInput{}); err != nil {
			t.Fatal(err)
		}
		handoffs = append(handoffs, made.Handoff)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var keys bytes.Buffer
	if err := admin.New(boss).ProofKeys(t.Context(), &keys); err != nil {
		t.Fatal(err)
	}
	var names []string
	var whole []byte
	for i, h := range handoffs {
		var b bytes.Buffer
		if err := admin.New(boss).HandoffReceipt(t.Context(), h, &b); err != nil {
			t.Fatal(err)
		}
		whole = b.Bytes()
		names = append(names, write(fmt.Sprint("receipt", i), whole))
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // reproducible on purpose
	for i := range 100 {
		changed := bytes.Clone(whole)
		changed[random.IntN(len(changed))] ^= 1
		names = append(names, write(fmt.Sprint("changed", i), changed))
	}
	cmd := exec.CommandContext(t.Context(), installed(t, "node_modules/.bin/node"), append([]string{data(t, "receipt.mjs"), write("keys", keys.Bytes())}, names...)...) //nolint:gosec // ours
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	read := json.NewDecoder(bytes.NewReader(out))
	for _, name := range names {
		var got struct {
			Proofs  int
			Events  []string
			Refused string
		}
		if err := read.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if changed := filepath.Base(name)[0] == 'c'; changed && got.Refused == "" {
			t.Errorf("%s is accepted: %+v", name, got)
		} else if !changed && (got.Proofs < 2 || !slices.Contains(got.Events, "handoff-complete") || !slices.Contains(got.Events, "handoff-acknowledgment")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
