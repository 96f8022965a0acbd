package verify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// checkSigners finds what is wrong with the keys in a directory of proofs: the public ones, the private one, and that which is to follow while it is
// rotated. A copy need not have private keys. Errors: of reading them.
func checkSigners(dir string, findings *[]proof.Finding) error {
	public, err := os.ReadFile(filepath.Join(dir, "keys")) //nolint:gosec // the path is the user's
	if errors.Is(err, os.ErrNotExist) {
		return nil // it was noticed before, unless --keys has them
	}
	if err != nil {
		return err
	}
	found := func(name, format string, args ...any) {
		*findings = append(*findings, proof.Finding{What: "proof/" + name + fmt.Sprintf(format, args...)})
	}
	keys, err := proof.ParseKeys(string(public))
	if err != nil {
		found("keys", ", the public keys, is damaged: restore it from a backup: %v", err)
		return nil
	}
	if err := checkLines(string(public)); err != nil {
		found("keys", ", the public keys, was changed: %v; restore it from a backup", err)
	}
	private, err := os.ReadFile(filepath.Join(dir, "key")) //nolint:gosec // as above
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		err := proof.CheckSigner(string(private), keys)
		if err == nil {
			err = checkLines(string(private))
		}
		if err != nil {
			found("key", ": the private key is damaged, and the server may not start; restore it, or remove it, and the next checkpoints are signed with a new key: %v", err)
		}
	}
	next, err := os.ReadFile(filepath.Join(dir, "key.next")) //nolint:gosec // as above
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := checkNext(string(next)); err != nil {
			found("key.next", ", the key that was to follow, is damaged: remove it, and rotate the key again: %v", err)
		}
	}
	return nil
}

// checkNext returns an error unless a key that is to follow is a private key and its public one.
func checkNext(text string) error {
	list := proof.KeyList(text)
	if len(list) != 2 {
		return errors.New("it is not a private key and its public one")
	}
	keys, err := proof.ParseKeys(list[1])
	if err != nil {
		return err
	}
	if err := proof.CheckSigner(list[0], keys); err != nil {
		return err
	}
	return checkLines(text)
}

// checkLines returns an error unless keys are in the form in which they are written.
func checkLines(text string) error {
	if text != strings.Join(proof.KeyList(text), "\n")+"\n" {
		return errors.New("it is not one key in each line, and nothing else")
	}
	for _, line := range proof.KeyList(text) {
		parts := strings.SplitN(strings.TrimPrefix(line, "PRIVATE+KEY+"), "+", 3) // the key may have a '+', too
		if hash := parts[min(1, len(parts)-1)]; hash != strings.ToLower(hash) {
			return fmt.Errorf("the hash %s of a key is not in lower case", hash)
		}
	}
	return nil
}

// signersIn are the keys in a directory of proofs, which a rotation changes.
func signersIn(dir string) (all string) {
	for _, name := range []string{"keys", "key", "key.next"} {
		text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the path is the user's
		all += fmt.Sprintf("%q %v\n", text, err)
	}
	return all
}
