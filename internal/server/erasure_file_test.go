package server

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// TestWhoAsksForAFileThatWasErasedIsToldWhenAndByWhom asks for the file of an erasure, and for the versions of its memory item.
func TestWhoAsksForAFileThatWasErasedIsToldWhenAndByWhom(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	must(t)(k.bob.Revise(t.Context(), k.item, client.ReviseInput{Text: "a second version"}))
	k.end(t)
	must(t)(k.admin.RegisterAgent(t.Context(), "eve", client.AgentSpec{}))
	made, err := k.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "eve"})
	if err != nil {
		t.Fatal(err)
	}
	eve := signedIn(t, k.server, made.Text)
	must(t)(k.admin.Erase(t.Context(), patient))

	item, err := k.bob.Memory(t.Context(), k.item, client.MemoryReference{})
	if err != nil || item.ForgottenBy == "" {
		t.Fatalf("%+v, %v", item, err)
	}
	on := "on " + item.Forgotten.UTC().Format(time.DateOnly) + " by " + item.ForgottenBy
	for _, by := range []*client.Client{k.ann, k.admin.Client} {
		_, err = by.Artifact(t.Context(), k.file, io.Discard)
		refusedWith(t, err, refusal.NotFound, "the artifact "+k.file+" was erased "+on)
	}
	_, err = k.bob.Artifact(t.Context(), k.file, io.Discard) // the task referred to it
	refusedWith(t, err, refusal.NotFound, "what referred to the artifact "+k.file+" was erased "+on)
	for _, by := range []*client.Client{k.bob, k.admin.Client} {
		_, err = by.MemoryVersions(t.Context(), k.item, 0, 0)
		refusedWith(t, err, refusal.NotFound, "memory item "+k.item+" was forgotten "+on)
	}
	page := newReader(t, k.server)
	page.get(page.link(token(t, k.server)), http.StatusOK)
	page.get("/memory/"+k.item, http.StatusOK) // which would have versions
	for path, status := range map[string]int{
		"/tasks/" + k.task: http.StatusOK, "/tasks/" + k.task + "/hops/1": http.StatusNotFound, "/tasks/" + k.task + "/record/jsonl": http.StatusOK, "/conversations/visit-9": http.StatusOK,
	} {
		body := page.get(path, status)
		if !strings.Contains(body, "erased "+on) || slices.ContainsFunc(k.words, func(w string) bool { return strings.Contains(body, w) }) {
			t.Errorf("%s does not say that it was erased, or has some of it: %s", path, body)
		}
	}
	_, err = eve.Artifact(t.Context(), k.file, io.Discard) // who had no part in it learns nothing
	refusedWith(t, err, refusal.NotFound, "there is no artifact")
	never := "sha256:" + strings.Repeat("0", 64)
	_, err = k.admin.Artifact(t.Context(), never, io.Discard)
	refusedWith(t, err, refusal.NotFound, "there is no artifact")
}
