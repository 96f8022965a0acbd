package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestTheKeyOfTheModelIsInTheEnvironmentOrAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sk-from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TRAPEZE_LLM_A", " sk-from-env\n")
	t.Setenv("TRAPEZE_LLM_B_FILE", file)
	for name, want := range map[string]string{"": "", "TRAPEZE_LLM_A": "sk-from-env", "TRAPEZE_LLM_B": "sk-from-file"} {
		if got, err := secret(name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestAKeyThatIsNotThereIsSaidSo(t *testing.T) {
	dir := t.TempDir()
	long, empty := filepath.Join(dir, "long"), filepath.Join(dir, "empty")
	for path, text := range map[string]string{long: strings.Repeat("k", maxKey+1), empty: " \n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TRAPEZE_LLM_LONG_FILE", long)
	t.Setenv("TRAPEZE_LLM_EMPTY_FILE", empty)
	t.Setenv("TRAPEZE_LLM_GONE_FILE", filepath.Join(dir, "gone"))
	for _, name := range []string{"TRAPEZE_LLM_NONE", "TRAPEZE_LLM_LONG", "TRAPEZE_LLM_EMPTY", "TRAPEZE_LLM_GONE"} {
		_, err := adviser(policy.LLM{Endpoint: "https://api.example.com/v1", Model: "m1", APIKeyEnv: name})
		if refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
