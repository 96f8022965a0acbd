//go:build slow

package server

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestABadPolicyFileStopsOnlyAServerThatHasNoRecordedPolicy(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rules.yaml")
	c := Config{DataDir: filepath.Join(dir, "data"), Addr: "127.0.0.1:0", Policy: file}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := func() (ready string, err error) {
		t.Helper()
		s, err := Open(t.Context(), c)
		if err != nil {
			return "", err
		}
		defer func() {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		res, err := http.Get(s.URL() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusOK {
			t.Errorf("not ready: %s", b)
		}
		return string(b), err
	}
	if _, err := start(); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("without the file that was named: %v", err)
	}
	write("version: 1\nrule: []\n")
	if _, err := start(); refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "rules.yaml:2:1") {
		t.Errorf("with a bad file: %v", err)
	}
	write("version: 1\nrules: [{name: a, then: {to: {agent: nobody-yet}}}]\n")
	if ready, err := start(); err != nil || strings.Contains(ready, "policy") {
		t.Errorf("with a good file: %s, %v", ready, err)
	}
	write("version: 1\nrule: []\n")
	if ready, err := start(); err != nil || !strings.Contains(ready, "not in force") || strings.Contains(ready, "rules.yaml:2:1") {
		t.Errorf("with a bad file, later: %s, %v", ready, err)
	}
}
