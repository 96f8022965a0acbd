package mcpapi_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
)

// An agent without a command line hands files on as texts of its call. The receiver reads them by their digest.
func TestATextIsAttachedAsAFile(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer := h.agent(version, "coder"), h.agent(version, "reviewer")
		_, own := coder.call("send", m{"intent": "Write the parser"})
		for _, x := range []struct {
			tool string
			args m
		}{
			{"send", m{"intent": "Review the parser", "to": "reviewer", "key": "k1"}},
			{"send", m{"task": own["task"], "to": "reviewer", "share_only": true}},
			{"escalate", m{"task": own["task"], "to": "reviewer"}},
		} {
			x.args["attach"] = []any{m{"name": "grammar.ebnf", "text": "expr = term;\n"}, "a text without a name"}
			_, sent := coder.call(x.tool, x.args)
			prompt := ""
			if x.args["share_only"] == true {
				_, box := reviewer.call("inbox", m{})
				for _, i := range box["items"].([]any) {
					if i := i.(m); i["type"] == "share" {
						prompt, _ = reviewer.call("status", m{"id": i["id"]})
					}
				}
			} else {
				prompt, _ = reviewer.call("accept", m{"handoff": sent["handoff"]})
			}
			digest := regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindString(prompt)
			if !strings.Contains(prompt, "grammar.ebnf") || digest == "" {
				t.Fatalf("%s %v: the receiver reads %s", x.tool, x.args, prompt)
			}
			r, err := reviewer.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "trapeze://artifact/" + digest})
			if err != nil || r.Contents[0].Text != "expr = term;\n" {
				t.Errorf("%s: the file is %+v, %v", x.tool, r, err)
			}
		}
		for _, attach := range []any{[]any{m{"name": "a"}}, []any{7}, []any{m{"text": "a", "path": "b"}}} {
			if text, _, refused := coder.try("send", m{"intent": "x", "attach": attach}); !refused || !strings.Contains(text, "a name and its text") {
				t.Errorf("%v: %s", attach, text)
			}
		}
	})
}

func TestAFileThatIsSentByItsDigestReachesTheReceiver(t *testing.T) {
	h := open(t)
	token := h.token("coder")
	coder, reviewer := h.connect(statelessVersion, "coder", token, nil), h.agent(statelessVersion, "reviewer")
	reviewer.call("join", m{})
	c, err := client.New("http://localhost", token, client.Options{HTTP: &http.Client{Transport: inprocess.Transport(h.api)}})
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.PutArtifact(t.Context(), strings.NewReader("the patch"), "")
	if err != nil {
		t.Fatal(err)
	}
	_, sent := coder.call("send", m{"intent": "Review this", "to": "reviewer", "files": info.Digest})
	text, _ := reviewer.call("accept", m{"handoff": sent["handoff"]})
	if !strings.Contains(text, info.Digest) {
		t.Errorf("the receiver does not hear of it: %s", text)
	}
	r, err := reviewer.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "trapeze://artifact/" + info.Digest})
	if err != nil || len(r.Contents) != 1 || string(r.Contents[0].Blob)+r.Contents[0].Text != "the patch" {
		t.Errorf("the receiver reads %+v, %v", r, err)
	}
	if text, _, refused := coder.try("send", m{"intent": "Review that", "to": "reviewer", "files": []string{"main.go"}}); !refused || !strings.Contains(text, "digest") {
		t.Errorf("a file's name instead of a digest: %s", text)
	}
}

func TestArtifactsAreGivenWholeOrNotAtAll(t *testing.T) {
	h := open(t)
	a := h.agent(statelessVersion, "coder")
	for _, x := range []struct {
		what    string
		content []byte
	}{
		{"text", []byte("a patch\n")}, {"bytes", []byte{0, 1, 255}}, {"too large", bytes.Repeat([]byte("x"), resource.MaxText+1)},
	} {
		info, err := h.admin.PutArtifact(t.Context(), bytes.NewReader(x.content), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Read", Send: &client.SendInput{
			To: []string{"coder"}, Content: client.Content{Artifacts: []client.Artifact{{Digest: info.Digest}}},
		}}); err != nil {
			t.Fatal(err)
		}
		r, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "trapeze://artifact/" + info.Digest})
		switch {
		case x.what == "too large":
			if err == nil || !strings.Contains(err.Error(), "trapeze artifact get "+info.Digest) {
				t.Errorf("%s: %v", x.what, err)
			}
		case err != nil:
			t.Errorf("%s: %v", x.what, err)
		case x.what == "text" && r.Contents[0].Text != string(x.content), x.what == "bytes" && !bytes.Equal(r.Contents[0].Blob, x.content):
			t.Errorf("%s: %+v", x.what, r.Contents[0])
		}
	}
}
