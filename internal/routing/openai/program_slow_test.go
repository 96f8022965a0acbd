//go:build slow

package openai_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing/openai"
)

const programVariable = "EMBEDDER_OF_THE_TESTS"

// TestMain is the program of the tests if they say so.
func TestMain(m *testing.M) {
	if os.Getenv(programVariable) == "" {
		os.Exit(m.Run())
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var asked struct{ Input []string }
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil || len(asked.Input) != 1 {
			fmt.Fprintln(os.Stderr, "one text was expected")
			os.Exit(2)
		}
		switch text := asked.Input[0]; text {
		case "crash":
			fmt.Fprintln(os.Stderr, "no memory left")
			os.Exit(3)
		case "secrets":
			fmt.Printf(`{"data":[{"index":0,"embedding":[%d,%d]}]}`+"\n", len(os.Getenv("TRAPEZE_TOKEN")+os.Getenv("TRAPEZE_POSTGRES")+os.Getenv("PGPASSWORD")), len(os.Getenv("MODEL_KEY")))
		case "silent":
		case "long":
			fmt.Println(strings.Repeat("x", 5<<20))
		case "refuse":
			fmt.Println(`{"refused":"it has too many words"}`)
		default:
			fmt.Printf(`{"data":[{"index":0,"embedding":[%d,%d]}]}`+"\n", len(text), os.Getpid())
		}
	}
	os.Exit(0)
}

// program starts an embedder that asks this test binary.
func program(t *testing.T, timeout time.Duration) *openai.Embedder {
	t.Helper()
	t.Setenv(programVariable, "yes")
	e, err := openai.NewEmbedder(openai.EmbedOptions{Command: []string{os.Args[0]}, Model: "small", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestAProgramMakesVectorsAndIsStartedAgainWhenItFails(t *testing.T) {
	e := program(t, 5*time.Second)
	first, err := e.Texts(t.Context(), []string{"a", "bcd"})
	if err != nil || first[0][0] != 1 || first[1][0] != 3 || first[0][1] != first[1][1] {
		t.Fatal(first, err)
	}
	again, err := e.Query(t.Context(), "a")
	if err != nil || !slices.Equal(again, first[0]) {
		t.Errorf("another process answers: %v, %v, %v", again, first[0], err)
	}
	if _, err := e.Texts(t.Context(), []string{"a", "refuse"}); refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "too many words") {
		t.Error(err)
	}
	for text, want := range map[string]string{"crash": "no memory left", "long": "too long"} {
		if _, err := e.Texts(t.Context(), []string{text}); refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if v, err := e.Query(t.Context(), "abcd"); err != nil || v[0] != 4 || v[1] == first[0][1] {
			t.Errorf("after %s: %v, %v", text, v, err)
		}
	}
}

func TestAnEmbedderGetsNoSecretOfTheServer(t *testing.T) {
	for _, name := range []string{"TRAPEZE_TOKEN", "TRAPEZE_POSTGRES", "PGPASSWORD"} {
		t.Setenv(name, "hidden")
	}
	t.Setenv("MODEL_KEY", "its own")
	if got, err := program(t, 5*time.Second).Query(t.Context(), "secrets"); err != nil || got[0] != 0 || got[1] != float32(len("its own")) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAQueryDoesNotWaitForAProgramThatIsSilentOrGone(t *testing.T) {
	e := program(t, 10*time.Millisecond)
	for range 3 {
		if _, err := e.Query(t.Context(), "silent"); refusal.CodeOf(err) != refusal.Unavailable {
			t.Error(err)
		}
	}
	e.Close()
	if _, err := e.Texts(t.Context(), []string{"a"}); refusal.CodeOf(err) != refusal.Unavailable {
		t.Error(err)
	}
	none, err := openai.NewEmbedder(openai.EmbedOptions{Command: []string{"/no/such/program"}, Model: "small"})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if _, err := none.Query(t.Context(), "a"); refusal.CodeOf(err) != refusal.Unavailable || !strings.Contains(err.Error(), "cannot be started") {
		t.Error(err)
	}
	if none.Space() == e.Space() {
		t.Error("two programs make vectors of one space")
	}
}
