package policy

import (
	"net/netip"
	"net/url"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Bounds of the model that is asked where no rule matches.
const (
	MaxModel         = 200 // bytes
	MaxEndpoint      = 500 // bytes
	MaxAdviceTimeout = time.Minute
	MaxAdviceTokens  = 4096
	MaxAdviceRetries = 3
	MaxAdviceCalls   = 100_000 // in an hour
	MaxAdviceSpent   = 1 << 30 // tokens in an hour
	maxEnv           = 128     // bytes of a variable's name
)

// LLM is the language model that is asked where no rule matches. Zero fields mean the default.
type LLM struct {
	Endpoint      string         `yaml:"endpoint" need:"yes" doc:"Base address of a service that answers chat completions as OpenAI's does, such as https://api.example.com/v1; http only on the server's own machine."`
	Model         string         `yaml:"model" need:"yes" doc:"The model's name there."`
	APIKeyEnv     string         `yaml:"api_key_env" doc:"The environment variable of the server that holds the key. Its name begins with TRAPEZE_LLM_, so that a policy cannot send other secrets away."`
	Timeout       event.Duration `yaml:"timeout" doc:"How long one piece of advice may take, all tries together; 10s if left out, at most 1m."`
	MaxTokens     int            `yaml:"max_tokens" doc:"The most tokens of an answer; 400 if left out."`
	Retries       int            `yaml:"retries" doc:"Tries after the first, where the service is busy, broken or cannot be understood; none if left out."`
	PerHour       int            `yaml:"per_hour" doc:"Calls in an hour, of each server; 120 if left out."`
	TokensPerHour int64          `yaml:"tokens_per_hour" doc:"Tokens in an hour, of each server, as the service reports them; 500000 if left out."`
	Share         int            `yaml:"share" doc:"How much of an hour's calls and tokens one principal may use, in percent; 25 if left out. Everybody has one call."`
}

// KeyPrefix is how the names of variables begin that may hold a key.
const KeyPrefix = "TRAPEZE_LLM_"

func (c *checker) checkLLM() {
	l := c.LLM
	if l == nil {
		return
	}
	c.checkModel("llm", l.Endpoint, l.Model, l.APIKeyEnv)
	for _, n := range []struct {
		name      string
		got, most int64
	}{
		{"timeout", int64(l.Timeout), int64(MaxAdviceTimeout)},
		{"max_tokens", int64(l.MaxTokens), MaxAdviceTokens},
		{"retries", int64(l.Retries), MaxAdviceRetries},
		{"per_hour", int64(l.PerHour), MaxAdviceCalls},
		{"tokens_per_hour", l.TokensPerHour, MaxAdviceSpent},
		{"share", int64(l.Share), 100},
	} {
		if _, given := c.places["llm."+n.name]; n.got < 0 || n.got > n.most || given && n.got == 0 && n.name != "retries" {
			c.sayAt("llm."+n.name, "see docs/policy.md for its bounds; leave it out for the default", "this is out of bounds")
		}
	}
}

// checkEndpoint refuses what is not the plain address of a service, and one that would get the key in the clear.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > MaxEndpoint || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return refusal.New(refusal.Invalid, "write it like https://api.example.com/v1", "the endpoint is not the plain address of a service")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return refusal.New(refusal.Invalid, "use https; http is allowed only for the server's own machine", "calls to the endpoint %.80s would not be encrypted", u.Host)
	}
	return nil
}
