package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// checkArtifacts compares the content of each artifact below a directory with its name, which is its SHA-256. A directory that does not exist has none.
func checkArtifacts(ctx context.Context, dir string) (checked int, wrong []proof.Finding, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) && path == dir {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil || d.IsDir() {
			return err
		}
		sum, err := sumOf(path)
		if errors.Is(err, os.ErrNotExist) { // a running server has just erased it
			return nil
		}
		if err != nil {
			return err
		}
		if checked++; sum != d.Name() {
			wrong = append(wrong, proof.Finding{What: fmt.Sprintf("the content of the artifact sha256:%s has the digest sha256:%s", d.Name(), sum)})
		}
		return nil
	})
	return checked, wrong, err
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // below the user's directory
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
