package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/policy"
)

func TestEmbeddingsAreReadAndBadOnesRefused(t *testing.T) {
	const head = "version: 1\nembeddings:\n"
	p, problems := policy.Parse("p.yaml", []byte(head+"  endpoint: http://127.0.0.1:9/v1\n  model: small\n  api_key_env: TRAPEZE_LLM_E\n  timeout: 200ms\n  min_similarity: 0.4\n"))
	if len(problems) > 0 || p.Embeddings == nil || time.Duration(p.Embeddings.Timeout) != 200*time.Millisecond || p.Embeddings.MinSimilarity != 0.4 || p.Embeddings.Model != "small" {
		t.Fatalf("%+v, %v", p, problems)
	}
	for fields, want := range map[string]string{
		"model: small": "endpoint and command_env are missing",
		"endpoint: 'https://e.com', command_env: TRAPEZE_EMBED_A, model: m":    "one of them is used",
		"command_env: TRAPEZE_EMBED_A, model: m, api_key_env: TRAPEZE_LLM_KEY": "a program gets no key",
		"command_env: PATH, model: m":                                          "embeddings.command_env",
		"command_env: '/bin/sh', model: m":                                     "embeddings.command_env",
		"command_env: TRAPEZE_EMBED_A":                                         "model is missing",
		"endpoint: 'http://example.com/v1', model: m":                          "not be encrypted",
		"endpoint: 'https://example.com/v1'":                                   "model is missing",
		"endpoint: 'https://e.com', model: m, x: y":                            "no field",
		"endpoint: 'https://e.com', model: m, timeout: 6s":                     "embeddings.timeout",
		"endpoint: 'https://e.com', model: m, timeout: 0s":                     "embeddings.timeout",
		"endpoint: 'https://e.com', model: m, min_similarity: 0":               "embeddings.min_similarity",
		"endpoint: 'https://e.com', model: m, min_similarity: 1":               "embeddings.min_similarity",
		"endpoint: 'https://e.com', model: m, api_key_env: SECRET":             "embeddings.api_key_env",
	} {
		_, problems := policy.Parse("p.yaml", []byte("version: 1\nembeddings: {"+fields+"}\n"))
		if len(problems) == 0 || !strings.Contains(problems.Err().Error(), want) {
			t.Errorf("%s: %v, want %q", fields, problems, want)
		}
	}
}
