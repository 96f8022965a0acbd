package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Problem is a refusal as the API answers it (RFC 9457).
type Problem struct {
	Code    string         `json:"code"`
	Detail  string         `json:"detail"`
	Hint    string         `json:"hint"`
	Routes  []string       `json:"routes"`
	Helps   []Help         `json:"helps"`
	Details map[string]any `json:"details"`

	After time.Duration `json:"-"` // the header Retry-After, at most a minute
}

// Help is one thing that helps after a refusal.
type Help struct {
	Words  string            `json:"words,omitempty"`  // those of the hint that speak of it; empty: the hint does not speak of it
	Call   string            `json:"call,omitempty"`   // what to call, by the command of the command line; empty: the same call again
	ID     string            `json:"id,omitempty"`     // what it takes, if the refusal knows it
	Fields map[string]string `json:"fields,omitempty"` // those of the call that matter, each with its value, or empty
}

// ProblemOf reads a refusal from an answer. What is not one of ours comes from something in between: it is invalid, or
// unavailable with a status of 500 and more.
func ProblemOf(res *http.Response, body []byte) Problem {
	var p Problem
	if json.Unmarshal(body, &p) != nil || p.Code == "" {
		p = Problem{
			Code: "invalid", Detail: fmt.Sprintf("the answer is not a Trapeze server's: %s", res.Status),
			Hint: "check the server's URL, and proxies on the way",
		}
		switch {
		case res.StatusCode >= http.StatusInternalServerError:
			p.Code = "unavailable"
		case strings.HasPrefix(string(body), plainCall):
			p.Detail, p.Hint = "the server is to be called with TLS, and the URL begins with http://", "use https://"
		}
	}
	if s, err := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After"))); err == nil && s > 0 {
		p.After = time.Duration(min(s, 60)) * time.Second
	}
	return p
}
