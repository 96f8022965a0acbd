package backup

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// signedText is what the log signs of a backup. The first line is not the name of a log, so that it is no checkpoint.
func signedText(log string, end []byte) string {
	return fmt.Sprintf("trapeze backup\n%s\nsha256:%s\n", log, digest(end))
}

// sign returns the signed note (c2sp.org/signed-note) on the last member of a backup; nil: there is no key of the log to sign with.
func sign(private, log string, end []byte) ([]byte, error) {
	signer, err := note.NewSigner(strings.TrimSpace(private))
	if err != nil || signer.Name() != log {
		return nil, nil //nolint:nilerr // a directory whose key is gone or damaged can be backed up, too
	}
	return note.Sign(&note.Note{Text: signedText(log, end)}, signer)
}

// checkSignature verifies the note on the last member of a backup with public keys, one in each line. Error: ErrDiffers.
func checkSignature(msg []byte, keys, log string, end []byte) error {
	known, err := proof.ParseKeys(keys)
	if err != nil {
		return fmt.Errorf("%w: its signature: %w", ErrDiffers, err)
	}
	n, err := note.Open(msg, known)
	switch {
	case err != nil:
		return fmt.Errorf("%w: its signature: %w", ErrDiffers, err)
	case n.Text != signedText(log, end) || n.Sigs[0].Name != log:
		return fmt.Errorf("%w: its signature: %w", ErrDiffers, errors.New("it is of another backup"))
	}
	return nil
}
