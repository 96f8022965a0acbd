//go:build slow

package httpapi_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

func TestAClientThatSendsTooMuchGetsTheAnswer(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, ann := h.agent("ann")
	for _, expect := range []string{"", "100-continue"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, h.URL+"/v1/artifacts", io.MultiReader(strings.NewReader(content(8*maxArtifact))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+ann)
		req.Header.Set("Expect", expect)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatalf("expect %q: %v", expect, err)
		}
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("expect %q: %s", expect, res.Status)
		}
		res.Body.Close()
	}
}

func TestTheClientPutsAndFetchesArtifacts(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	bob, _ := h.agent("bob")
	want := content(1_500_000)
	info, err := ann.PutArtifact(t.Context(), strings.NewReader(want), "")
	if err != nil || info != (client.ArtifactInfo{Digest: digestOf(want), Bytes: 1_500_000}) {
		t.Fatalf("%+v, %v", info, err)
	}
	var out bytes.Buffer
	if got, err := ann.Artifact(t.Context(), info.Digest, &out); err != nil || got != info || out.String() != want {
		t.Errorf("%+v, %v, %d bytes", got, err, out.Len())
	}
	if _, err := bob.Artifact(t.Context(), info.Digest, &out); !errors.Is(err, client.NotFound) {
		t.Errorf("%v", err)
	}
	for _, c := range []io.Reader{strings.NewReader(content(maxArtifact + 1)), io.MultiReader(strings.NewReader(content(4 * maxArtifact)))} {
		if _, err := ann.PutArtifact(t.Context(), c, ""); !errors.Is(err, client.TooLarge) {
			t.Errorf("%v", err)
		}
	}
	if _, err := ann.PutArtifact(t.Context(), strings.NewReader("x"), digestOf("y")); !errors.Is(err, client.Invalid) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsWrongWithAnUploadIsSaid(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, ann := h.agent("ann")
	auditor, err := h.as(h.admin).CreateToken(t.Context(), client.TokenInput{Role: client.RoleAuditor, Name: "zoe"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		token, line, body string
		status            int
		code              client.Code
		says              string
	}{
		"too large":         {ann, "PUT /v1/artifacts", content(maxArtifact + 1), 413, client.TooLarge, "3145728 bytes"},
		"another digest":    {ann, "PUT /v1/artifacts?digest=" + digestOf("a"), "b", 400, client.Invalid, "is not sha256:"},
		"no digest":         {ann, "PUT /v1/artifacts?digest=abc", "b", 400, client.Invalid, "not a digest"},
		"unknown parameter": {ann, "PUT /v1/artifacts?name=x", "b", 400, client.Invalid, "name"},
		"nobody":            {"", "PUT /v1/artifacts", "b", 401, client.Unauthenticated, "token"},
		"an auditor":        {auditor.Text, "PUT /v1/artifacts", "b", 403, client.NotPermitted, "put an artifact"},
		"a bad key":         {ann, "PUT /v1/artifacts", "b", 413, client.TooLarge, "idempotency key"},
		"a post":            {ann, "POST /v1/artifacts", "b", 405, client.Invalid, "POST"},
		"a path":            {ann, "GET /v1/artifacts/..%2F..%2Fetc%2Fpasswd", "", 400, client.Invalid, "not a digest"},
		"upper case":        {ann, "GET /v1/artifacts/" + strings.ToUpper(digestOf("a")), "", 400, client.Invalid, "not a digest"},
		"nothing there":     {ann, "GET /v1/artifacts/" + digestOf("a"), "", 404, client.NotFound, "no artifact"},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if name == "a bad key" {
				headers = []string{"Idempotency-Key: " + strings.Repeat("k", 201)}
			}
			r := h.call(tt.token, tt.line, tt.body, headers...)
			if p := r.problem(t); r.status != tt.status || string(p.Code) != string(tt.code) || !strings.Contains(p.Detail, tt.says) || p.Hint == "" {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	if files := h.files(); len(files) != 0 {
		t.Errorf("left: %q", files)
	}
}
