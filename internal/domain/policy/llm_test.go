package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
)

const model = `version: 1
llm:
  endpoint: https://api.example.com/v1
  model: small
  api_key_env: TRAPEZE_LLM_KEY
  timeout: 5s
  max_tokens: 200
  retries: 0
  per_hour: 10
  tokens_per_hour: 20000
`

func TestTheModelThatIsAskedIsRead(t *testing.T) {
	want := policy.LLM{
		Endpoint: "https://api.example.com/v1", Model: "small", APIKeyEnv: "TRAPEZE_LLM_KEY", Timeout: event.Duration(5 * time.Second),
		MaxTokens: 200, PerHour: 10, TokensPerHour: 20000,
	}
	if got := parsed(t, model).LLM; got == nil || *got != want {
		t.Errorf("%+v", got)
	}
	if got := parsed(t, "version: 1\n").LLM; got != nil {
		t.Errorf("%+v", got)
	}
	for _, endpoint := range []string{"http://localhost:11434/v1", "http://127.0.0.1:8080", "http://[::1]:8080/v1", "https://10.0.0.7/v1"} {
		parsed(t, "version: 1\nllm: {endpoint: '"+endpoint+"', model: small}\n")
	}
}

func TestAModelThatCannotBeMeantIsRefusedWithItsLine(t *testing.T) {
	for _, c := range []struct {
		line      int
		old, with string
		reason    string
	}{
		{3, "https://api.example.com/v1", "http://api.example.com/v1", "would not be encrypted"},
		{3, "https://api.example.com/v1", "http://localhost.example.com/v1", "would not be encrypted"},
		{3, "https://api.example.com/v1", "ftp://api.example.com/v1", "would not be encrypted"},
		{3, "https://api.example.com/v1", "api.example.com", "not the plain address"},
		{3, "https://api.example.com/v1", "https://me:secret@api.example.com", "not the plain address"},
		{3, "https://api.example.com/v1", "https://api.example.com/?key=secret", "not the plain address"},
		{3, "https://api.example.com/v1", `""`, "not the plain address"},
		{3, "https://api.example.com/v1", "https://" + strings.Repeat("x", 500), "not the plain address"},
		{4, "small", `""`, "empty"},
		{4, "small", strings.Repeat("x", 201), "201 bytes"},
		{5, "TRAPEZE_LLM_KEY", "AWS_SECRET_ACCESS_KEY", "variable"},
		{5, "TRAPEZE_LLM_KEY", "sk-0123456789", "variable"},
		{5, "TRAPEZE_LLM_KEY", "TRAPEZE_LLM_key", "variable"},
		{6, "5s", "2m", "out of bounds"},
		{6, "5s", "-1s", ""},
		{7, "200", "5000", "out of bounds"},
		{7, "200", "0", "out of bounds"},
		{8, "retries: 0", "retries: 4", "out of bounds"},
		{9, "per_hour: 10", "per_hour: -1", "out of bounds"},
		{10, "20000", "99999999999", "out of bounds"},
		{5, "api_key_env", "api_key", "api_key"},
		{2, "  endpoint: https://api.example.com/v1\n", "", "endpoint"},
	} {
		p, problems := policy.Parse("policy.yaml", []byte(strings.Replace(model, c.old, c.with, 1)))
		if p != nil || len(problems) == 0 {
			t.Errorf("%s: taken", c.with)
			continue
		}
		if got := problems[0]; got.Line != c.line && c.line != 2 || !strings.Contains(got.Reason, c.reason) || strings.Contains(problems.Err().Error(), "secret") {
			t.Errorf("%s: %+v", c.with, problems)
		}
	}
}
