package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheNextServerRemovesTheDataOfOneThatWasKilled(t *testing.T) {
	below, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(below, memPrefix+"x")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, ownerMark), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed, lock, err := makeOwned(below)
	if err != nil {
		t.Fatal(err)
	}
	living, other, err := makeOwned(below)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(killed); err != nil {
		t.Errorf("the data of a server that lives: %v", err)
	}
	if err := lock.Close(); err != nil { // as its death does
		t.Fatal(err)
	}
	next, third, err := makeOwned(below)
	if err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{killed: false, living: true, next: true, filepath.Join(elsewhere, ownerMark): true} {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, l := range []interface{ Close() error }{other, third} {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
