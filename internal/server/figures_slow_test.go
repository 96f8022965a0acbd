//go:build slow

package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestFiguresNameAConfiguredNumberOfAgents(t *testing.T) {
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", FigureAgents: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	c, err := client.New(s.URL(), token(t, s), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for n := range 4 {
		name := fmt.Sprint("agent", n)
		if _, err := c.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if text := scrape(t, s); strings.Count(text, "\ntrapeze_inbox_items{") != 3 || !strings.Contains(text, `trapeze_inbox_items{agent="other",workspace="default"} 2`) {
		t.Errorf("the figures name\n%s", text)
	}
	if _, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", FigureAgents: -1}); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("less than none: %v", err)
	}
}

// TestVariablesWithoutEffectAreNamedInTheLogOnce: an operator who sets them would wait for what never comes.
func TestVariablesWithoutEffectAreNamedInTheLogOnce(t *testing.T) {
	t.Setenv("OTEL_LOGS_EXPORTER", "otlp")
	var log bytes.Buffer
	s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Count(text, "OTEL_LOGS_EXPORTER") != 1 || !strings.Contains(text, "have no effect") || !strings.Contains(text, "standard error") {
		t.Errorf("%s", text)
	}
}
