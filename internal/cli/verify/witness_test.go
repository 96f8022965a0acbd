package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// cosign adds the cosignature of a new witness to the checkpoint of a directory of proofs, and returns its public key.
func cosign(t *testing.T, dir, name string) (key string) {
	t.Helper()
	text, err := proof.NewWitnessKey(name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := proof.ParseWitnessSigner(text, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, kept := read(t, dir, "keys"), filepath.Join(dir, "proof", "cosigned")
	log, err := proof.ParseKeys(keys)
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open([]byte(read(t, dir, "checkpoint")), log)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(n, signer)
	if err != nil {
		t.Fatal(err)
	}
	write(t, kept, string(signed))
	return signer.String() + "\n"
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "proof", name)) //nolint:gosec // of the test
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestALineOfAWitnessIsCheckedOrSaidNotToBe changes each byte of the line with which a witness cosigned a checkpoint, in the data directory that has the key of the witness, in one that
// has not, and in a file.
func TestALineOfAWitnessIsCheckedOrSaidNotToBe(t *testing.T) {
	dir := proofs(t)
	public := cosign(t, dir, "w.example.com")
	signed := read(t, dir, "cosigned")
	cosigned, witnesses, keys := filepath.Join(dir, "proof", "cosigned"), filepath.Join(dir, "proof", "witnesses"), filepath.Join(dir, "proof", "keys")
	open := func(string, ...string) (File, error) { return record{}, nil }
	expect := func(what string, exit int, says string, args ...string) {
		t.Helper()
		code, printed := run(t, open, args...)
		if code != exit || says != "" && !strings.Contains(printed, says) {
			t.Errorf("%s: the exit code is %d, want %d, and it says, without %q:\n%s", what, code, exit, says, printed)
		}
		if says == "" && strings.Contains(printed, "Not checked") {
			t.Errorf("%s: what is checked is said not to be:\n%s", what, printed)
		}
	}
	expect("without the key", 0, "Not checked: the signature of w.example.com. ", dir)
	expect("a file without the key", 0, "Not checked: the signature of w.example.com. ", cosigned, "--keys", keys)
	expect("kept elsewhere, without the key", 0, "Not checked: the signature of w.example.com. ", dir, "--checkpoint", cosigned)
	write(t, witnesses, public)
	expect("with the key", 0, "", dir)
	expect("a file with the key", 0, "cosigned by w.example.com", cosigned, "--keys", keys, "--witness-key", witnesses)
	other := filepath.Join(t.TempDir(), "other")
	for at := strings.LastIndex(signed, "w.example"); at < len(signed)-1; at++ {
		changed := []byte(signed)
		changed[at] ^= 1
		write(t, cosigned, string(changed))
		expect("byte "+string(changed[at:at+1]), 1, "the last cosigned checkpoint", dir)
		write(t, other, string(changed))
		expect("a file, byte "+string(changed[at:at+1]), 1, "", other, "--keys", keys, "--witness-key", witnesses)
	}
	expect("kept elsewhere, a wrong one", 1, "", dir, "--checkpoint", other, "--witness-key", witnesses)
	write(t, cosigned, signed)
	for _, damaged := range []string{"W" + public[1:], "#" + public[1:], public + " ", ""} {
		write(t, witnesses, damaged)
		expect("witnesses: "+damaged, 1, "proof/witnesses, the public keys of witnesses, is damaged", dir)
	}
}
