package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing/openai"
)

func (m *model) embedder(t *testing.T, configure ...func(*openai.EmbedOptions)) *openai.Embedder {
	t.Helper()
	o := openai.EmbedOptions{Endpoint: m.URL + "/v1", Model: "e1", Key: key, Timeout: 5 * time.Second}
	for _, c := range configure {
		c(&o)
	}
	e, err := openai.NewEmbedder(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestTextsGetTheirVectors(t *testing.T) {
	m := serve(t, answering(`{"object":"list","data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}],"model":"e1","usage":{"total_tokens":3}}`))
	e := m.embedder(t)
	got, err := e.Texts(t.Context(), []string{"a", "b"})
	if err != nil || !slices.Equal(got[0], []float32{1, 0.5}) || !slices.Equal(got[1], []float32{0, 1}) {
		t.Fatal(got, err)
	}
	var asked struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}
	if err := json.Unmarshal([]byte(m.bodies[0]), &asked); err != nil || asked.Model != "e1" || asked.Format != "float" || !slices.Equal(asked.Input, []string{"a", "b"}) || m.auth[0] != "Bearer "+key {
		t.Errorf("asked %s, %v", m.bodies[0], err)
	}
	if e.Space() != "e1 at "+m.URL+"/v1" || e.Least() <= 0 {
		t.Error(e.Space(), e.Least())
	}
}

func TestAnAnswerWithoutTheVectorsIsRefused(t *testing.T) {
	for body, message := range map[string]string{
		"no": "not a list of embeddings", `{"data":[]}`: "0 embeddings for 1", `{"data":[{"index":1,"embedding":[1]}]}`: "numbers",
		`{"data":[{"index":-1,"embedding":[1]}]}`: "numbers", `{"data":[{"embedding":[]}]}`: "0 numbers", `{"data":[{"embedding":[0,0]}]}`: "direction",
		`{"data":[{"embedding":[1e39]}]}`: "not a list", `{"data":[{"embedding":["x"]}]}`: "not a list", `{"error":{"message":"` + key + `"}}`: "0 embeddings",
		`{"data":[{"embedding":[` + strings.Repeat("1,", 5000) + `1]}]}`: "5001 numbers",
	} {
		_, err := serve(t, answering(body)).embedder(t).Query(t.Context(), "a")
		code := refusal.Unavailable
		if message == "direction" {
			code = refusal.Invalid // of this text, perhaps
		}
		if refusal.CodeOf(err) != code || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), key) {
			t.Errorf("%.60s: %v, want %q", body, err, message)
		}
	}
	m := serve(t, answering(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`))
	if _, err := m.embedder(t).Texts(t.Context(), []string{"a", "b"}); err == nil {
		t.Error("two vectors for one text")
	}
	m = serve(t, answering(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`))
	if _, err := m.embedder(t).Texts(t.Context(), []string{"a", "b"}); err == nil {
		t.Error("vectors of two dimensions")
	}
}

func TestTheEndpointOfEmbeddingsIsCheckedAsThatOfAdvice(t *testing.T) {
	for _, o := range []openai.EmbedOptions{
		{Endpoint: "http://example.com/v1", Model: "m"},
		{Endpoint: "https://u:p@example.com", Model: "m"},
		{Endpoint: "https://example.com"},
		{Endpoint: "https://example.com", Model: "m", Key: "a\nb"},
		{Endpoint: "https://example.com", Model: "m", Timeout: time.Hour},
	} {
		if _, err := openai.NewEmbedder(o); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, r.Header)
		_, _ = io.WriteString(w, key)
	})
	if _, err := m.embedder(t).Query(t.Context(), "a"); err == nil || strings.Contains(err.Error(), key) {
		t.Error(err)
	}
}

func TestAnEndpointThatFindsFaultWithATextIsNotUnavailable(t *testing.T) {
	for _, code := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		m := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "too long", code) })
		e := m.embedder(t)
		for range 4 { // and queries go on
			if _, err := e.Query(t.Context(), "a"); refusal.CodeOf(err) != refusal.Invalid {
				t.Errorf("%d: %v", code, err)
			}
		}
		if _, err := e.Texts(t.Context(), []string{"a", "b"}); refusal.CodeOf(err) != refusal.Invalid || m.calls.Load() != 5 {
			t.Errorf("%d: %v, %d calls", code, err, m.calls.Load())
		}
	}
}

func TestQueriesThatAreTooManyAtOnceDoNotReachTheModel(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-end
		answering(`{"data":[{"index":0,"embedding":[1]}]}`)(w, r)
	})
	e := m.embedder(t)
	results := make(chan error)
	const most = 8
	for range most {
		go func() {
			_, err := e.Query(t.Context(), "a")
			results <- err
		}()
		<-begun
	}
	if _, err := e.Query(t.Context(), "a"); refusal.CodeOf(err) != refusal.Limit || m.calls.Load() != most {
		t.Errorf("%v, %d calls", err, m.calls.Load())
	}
	close(end)
	for range most {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
