package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// content is n bytes that differ from piece to piece.
func content(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()[:n]
}

func digestOf(content string) string { return string(artifact.DigestOf([]byte(content))) }

// put uploads over the wire.
func (h *harness) put(token, content string) string {
	h.t.Helper()
	r := h.call(token, "PUT /v1/artifacts?digest="+digestOf(content), content, "Content-Type: text/x-diff")
	if want := fmt.Sprintf("{\"digest\":%q,\"bytes\":%d}\n", digestOf(content), len(content)); r.status != 200 || r.body != want {
		h.t.Fatalf("%d %s", r.status, r.body)
	}
	return digestOf(content)
}

func TestAnArtifactGoesUpAndComesDownAsItIs(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, ann := h.agent("ann")
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, maxArtifact} {
		want := content(size)
		d := h.put(ann, want)
		got := h.call(ann, "GET /v1/artifacts/"+d, "")
		if got.status != 200 || got.body != want {
			t.Errorf("%d, %d of %d bytes", got.status, len(got.body), size)
		}
		head := h.call(ann, "HEAD /v1/artifacts/"+d, "")
		if head.status != 200 || head.body != "" {
			t.Errorf("%d %s", head.status, head.body)
		}
		for _, r := range []reply{got, head} {
			for name, want := range map[string]string{
				"Content-Type": "application/octet-stream", "Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff",
				"Cache-Control": "no-store", "Content-Length": strconv.Itoa(size), "Content-Security-Policy": "sandbox; default-src 'none'",
			} {
				if r.header.Get(name) != want {
					t.Errorf("%s: %q, want %q", name, r.header.Get(name), want)
				}
			}
		}
	}
}

// files are those in the store of artifacts.
func (h *harness) files() (names []string) {
	h.t.Helper()
	err := filepath.WalkDir(h.artifactDir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return names
}

func TestAnArtifactOfOthersLooksLikeNone(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, ann := h.agent("ann")
	_, bob := h.agent("bob")
	d, none := h.put(ann, "secret"), digestOf("nowhere")
	got, want := h.call(bob, "GET /v1/artifacts/"+d, ""), h.call(bob, "GET /v1/artifacts/"+none, "")
	if got.status != 404 || strings.ReplaceAll(got.body, d, none) != want.body {
		t.Errorf("%d %s, %s", got.status, got.body, want.body)
	}
	if head := h.call(bob, "HEAD /v1/artifacts/"+d, ""); head.status != 404 {
		t.Errorf("%d", head.status)
	}
	if r := h.call(h.admin, "GET /v1/artifacts/"+d, ""); r.body != "secret" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestADamagedArtifactNeverEndsWell(t *testing.T) {
	h := open(t, httpapi.Options{})
	c, ann := h.agent("ann")
	for _, size := range []int{10, 64 << 10, 128 << 10, 200_000} {
		whole := content(size)
		d := h.put(ann, whole)
		for _, damage := range []string{whole[:size-1] + "#", "#" + whole[1:], whole[:size/2], whole + whole} {
			if err := os.WriteFile(h.files()[0], []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/v1/artifacts/"+d, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+ann)
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode == http.StatusOK && err == nil {
				t.Errorf("%d bytes ended well with %d bytes", size, len(b))
			}
			if res.StatusCode != http.StatusOK && (res.StatusCode != http.StatusInternalServerError || !strings.Contains(string(b), "damaged") || !strings.Contains(string(b), "repair")) {
				t.Errorf("%d %s", res.StatusCode, b)
			}
			var out bytes.Buffer
			if _, err := c.Artifact(t.Context(), d, &out); err == nil {
				t.Error("the client took it")
			}
		}
		h.put(ann, whole) // repairs it
		if got := h.call(ann, "GET /v1/artifacts/"+d, ""); got.body != whole {
			t.Errorf("not repaired: %d, %d bytes", got.status, len(got.body))
		}
		if err := os.Remove(h.files()[0]); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(h.log.String(), "an artifact is damaged") {
		t.Error("the log does not tell")
	}
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, ann := h.agent("ann")
	broken := errors.New("the line is dead")
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, h.URL+"/v1/artifacts", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+ann)
	go func() {
		_, _ = io.WriteString(w, content(1<<20))
		w.CloseWithError(broken)
	}()
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		t.Errorf("answered %s", res.Status)
		res.Body.Close()
	}
	h.Close() // when all calls have ended
	if files := h.files(); len(files) != 0 {
		t.Errorf("left: %q", files)
	}
}

// A prompt with files names the call that fetches them; where a file is no text, the answer names the one that gives its bytes.
func TestAPromptWithFilesNamesTheCallThatFetchesThem(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, token := h.agent("writer")
	var files []client.Artifact
	for _, content := range []string{"order,amount\n", "\xff\xfe\x00"} {
		info, err := planner.PutArtifact(t.Context(), strings.NewReader(content), "")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, client.Artifact{Digest: info.Digest})
	}
	sent, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "fix it", Content: client.Content{Artifacts: files}, Send: &client.SendInput{To: []string{"writer"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := writer.Accept(t.Context(), sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	_, call, named := strings.Cut(got.Content.Prompt, "\n# Artifacts (")
	call, _, _ = strings.Cut(call, ")\n")
	if !named || !strings.HasPrefix(call, "/v1/tasks/"+sent.Task+"/") {
		t.Fatalf("the prompt names %q:\n%s", call, got.Content.Prompt)
	}
	if r := h.call(token, "GET "+strings.Replace(call, "DIGEST", files[0].Digest, 1), ""); r.status != http.StatusOK || !strings.Contains(r.body, `order,amount\n`) {
		t.Errorf("the text: %d %s", r.status, r.body)
	}
	r := h.call(token, "GET "+strings.Replace(call, "DIGEST", files[1].Digest, 1), "")
	_, bytes, named := strings.Cut(r.body, "fetch it with: ")
	bytes, _, _ = strings.Cut(bytes, ")")
	if r.status != http.StatusOK || !named {
		t.Fatalf("what is no text: %d %s", r.status, r.body)
	}
	if r := h.call(token, "GET "+bytes, ""); r.status != http.StatusOK || r.body != "\xff\xfe\x00" {
		t.Errorf("GET %s: %d %q", bytes, r.status, r.body)
	}
}
