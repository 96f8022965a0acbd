package durable

import (
	"errors"
	"os"
)

// Sync makes a file, or the names in a directory, durable: a new name, or another one, may be lost with the power until its directory is.
func Sync(name string) error {
	f, err := os.Open(name) //nolint:gosec // the operator's path
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
