package natsnode

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/minio/highwayhash"
)

// A node whose newest snapshot of a Raft group is damaged would run without a replica of that group, as nats-server tries to make it from that snapshot again and again.

// checkSnapshots refuses a directory with a snapshot that is damaged and would be read. It ends with a checksum of the rest, whose key is the name of the group.
func checkSnapshots(dir string) error {
	groups, err := fs.Glob(os.DirFS(dir), storeDir+"/*/_js_/*")
	if err != nil {
		return err
	}
	for _, group := range groups {
		group = filepath.Join(dir, filepath.FromSlash(group))
		file, err := newestSnapshot(filepath.Join(group, "snapshots"))
		switch {
		case err != nil:
			return err
		case file == "":
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		key := sha256.Sum256([]byte(filepath.Base(group)))
		sum, err := highwayhash.New64(key[:])
		if err != nil {
			return err
		}
		end := max(0, len(text)-sumSize)
		_, _ = sum.Write(text[:end]) // never fails
		if !bytes.Equal(sum.Sum(nil), text[end:]) {
			return damaged(dir, file, "")
		}
	}
	return nil
}

// newestSnapshot returns the file of the last entry in the last term; empty: there is none. One that is being written has another name.
func newestSnapshot(dir string) (newest string, err error) {
	files, err := fs.Glob(os.DirFS(dir), "snap.*")
	if err != nil {
		return "", err
	}
	var term, entry uint64
	for _, file := range files {
		var t, e uint64
		_, err := fmt.Sscanf(file, "snap.%d.%d", &t, &e)
		if whole := err == nil && file == fmt.Sprintf("snap.%d.%d", t, e); whole && (newest == "" || t > term || t == term && e > entry) {
			newest, term, entry = filepath.Join(dir, file), t, e
		}
	}
	return newest, nil
}
