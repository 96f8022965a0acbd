package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/trapezehq/trapeze/client"
)

func shaOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func kept(content string) func(http.ResponseWriter, *http.Request) {
	return says(200, fmt.Sprintf(`{"digest":%q,"bytes":%d}`, shaOf(content), len(content)))
}

func TestAFileIsSentAgainFromWhereItBegan(t *testing.T) {
	for name, failure := range map[string]func(http.ResponseWriter, *http.Request){
		"the line broke": hangsUp, "the server is away": says(503, problem(client.Unavailable)), "nobody knows": says(504, problem(client.Unknown)),
	} {
		t.Run(name, func(t *testing.T) {
			c, s := play(t, client.Options{}, failure, kept("content"))
			file := strings.NewReader("a header, content")
			if _, err := file.Seek(10, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			info, err := c.PutArtifact(t.Context(), file, shaOf("content"))
			if err != nil || info != (client.ArtifactInfo{Digest: shaOf("content"), Bytes: 7}) || s.count() != 2 {
				t.Fatalf("%+v, %v after %d attempts", info, err, s.count())
			}
			for i, r := range s.asked {
				if s.bodies[i] != "content" || r.URL.Query().Get("digest") != shaOf("content") || r.Header.Get("Content-Type") != "application/octet-stream" ||
					r.Header.Get("Idempotency-Key") != s.asked[0].Header.Get("Idempotency-Key") {
					t.Errorf("attempt %d: %s %v %q", i, r.URL, r.Header, s.bodies[i])
				}
			}
		})
	}
}

func TestAStreamIsSentOnce(t *testing.T) {
	c, s := play(t, client.Options{}, says(503, problem(client.Unavailable)), kept("content"))
	if _, err := c.PutArtifact(t.Context(), io.MultiReader(strings.NewReader("content")), ""); !errors.Is(err, client.Unavailable) || s.count() != 1 {
		t.Errorf("%v after %d attempts", err, s.count())
	}
}

func TestAContentThatCannotBeReadIsNotSentAgain(t *testing.T) {
	c, s := play(t, client.Options{}, kept("con"))
	broken := errors.New("bad sector")
	content := struct {
		io.Reader
		io.Seeker
	}{io.MultiReader(strings.NewReader("con"), iotest.ErrReader(broken)), strings.NewReader("")}
	if _, err := c.PutArtifact(t.Context(), content, ""); !errors.Is(err, broken) || s.count() > 1 {
		t.Errorf("%v after %d attempts", err, s.count())
	}
}

func TestAnUploadThatArrivedAsSomethingElseIsAnError(t *testing.T) {
	c, _ := play(t, client.Options{}, kept("c0ntent"))
	if _, err := c.PutArtifact(t.Context(), strings.NewReader("content"), ""); err == nil || !strings.Contains(err.Error(), shaOf("c0ntent")) {
		t.Error(err)
	}
}

func TestADownloadIsVerifiedAndNotRepeatedOnceItHasBegun(t *testing.T) {
	var out bytes.Buffer
	c, s := play(t, client.Options{}, hangsUp, says(503, problem(client.Unavailable)), says(200, "content"))
	if info, err := c.Artifact(t.Context(), shaOf("content"), &out); err != nil || out.String() != "content" || info.Bytes != 7 || s.count() != 3 {
		t.Errorf("%+v, %v, %q after %d attempts", info, err, out.String(), s.count())
	}
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"altered": says(200, "c0ntent"), "empty": says(200, ""),
		"cut short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "7")
			_, _ = io.WriteString(w, "cont")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		c, s := play(t, client.Options{}, answer)
		if _, err := c.Artifact(t.Context(), shaOf("content"), &bytes.Buffer{}); err == nil || name != "empty" && s.count() != 1 {
			t.Errorf("%s: %v after %d attempts", name, err, s.count())
		}
	}
	c, s = play(t, client.Options{}, says(200, "content"))
	full := errors.New("disk full")
	if _, err := c.Artifact(t.Context(), shaOf("content"), failing{full}); !errors.Is(err, full) || s.count() != 1 {
		t.Errorf("%v after %d attempts", err, s.count())
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
