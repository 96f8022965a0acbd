package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

const (
	maxBody = 256 << 10
	// maxKept is the number of bytes of an answer that are recorded.
	maxKept = 8 << 10
	// maxTokens is more than any call can use; greater numbers of an endpoint are ignored.
	maxTokens = 10_000_000
)

// failure is a failed try.
type failure struct {
	*refusal.Error
	again bool          // another try may succeed
	after time.Duration // the wait that the endpoint asks for
}

func failed(again bool, format string, args ...any) *failure {
	return &failure{Error: unavailable(format, args...), again: again}
}

// try asks on behalf of a principal, and asks again if that may help, until the timeout.
func (a *Adviser) try(ctx context.Context, by string, q *question, told *routing.Told) (string, error) {
	for wait := a.opts.Backoff; ; wait *= 2 {
		if err := a.budget.begin(by, q.estimate); err != nil {
			return "", err
		}
		told.Tries++
		content, f := a.once(ctx, by, q, told)
		if f == nil {
			return content, nil // success or failure is counted once it is parsed
		}
		if !errors.Is(ctx.Err(), context.Canceled) { // otherwise the caller cancelled
			a.budget.judged(false)
		}
		if !f.again || told.Tries > a.opts.Retries || ctx.Err() != nil {
			return "", f.Error
		}
		wait = max(wait, f.after)
		if ends, ok := ctx.Deadline(); ok && time.Until(ends) <= wait {
			return "", unavailable("%s; the next try would have to wait %s, beyond the timeout", f.Message, wait)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return "", f.Error
		}
	}
}

// reply is the part of a chat completion that is read.
type reply struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Total int64 `json:"total_tokens"`
	} `json:"usage"`
}

// once makes one call and returns the content of its answer.
func (a *Adviser) once(ctx context.Context, by string, q *question, told *routing.Told) (string, *failure) {
	cost := q.estimate // if the answer does not tell
	defer func() {
		a.budget.spent(by, q.estimate, cost)
		told.Tokens += cost
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(q.body))
	if err != nil {
		return "", failed(false, "the model cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "trapeze")
	if a.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+a.opts.Key)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return "", failed(true, "the model cannot be reached: %s", a.reason(ctx, err))
	}
	defer res.Body.Close()
	if f := a.status(res); f != nil {
		cost = 0
		return "", f
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	told.Answer = a.keep(string(body))
	switch {
	case err != nil:
		return "", failed(true, "the model's answer broke off: %s", a.reason(ctx, err))
	case len(body) > maxBody:
		return "", failed(false, "the model's answer is longer than %d bytes", maxBody)
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return "", failed(true, "the model's answer is not a chat completion: %s", a.keep(err.Error()))
	}
	if 0 < r.Usage.Total && r.Usage.Total <= maxTokens {
		cost = r.Usage.Total
	}
	if len(r.Choices) == 0 {
		return "", failed(true, "the model's answer has no choices")
	}
	c := r.Choices[0]
	told.Answer = a.keep(c.Message.Content)
	switch {
	case c.Message.Refusal != "":
		told.Answer = a.keep(c.Message.Refusal)
		return "", failed(false, "the model refuses to answer")
	case c.FinishReason == "length":
		return "", failed(false, "the model's answer needs more than %d tokens", a.opts.MaxTokens)
	case strings.TrimSpace(c.Message.Content) == "":
		return "", failed(true, "the model's answer is empty")
	}
	return c.Message.Content, nil
}

// status returns the failure that the status and the type of an answer mean; nil if it is to be read. It repeats nothing of
// the body, which may contain the key.
func (a *Adviser) status(res *http.Response) *failure {
	switch code := res.StatusCode; {
	case code >= 300 && code < 400:
		return failed(false, "the model's endpoint answers with a redirect (%d), which is not followed", code)
	case code == http.StatusTooManyRequests || code >= 500:
		f := failed(true, "the model's endpoint answers %d", code)
		f.after = retryAfter(res.Header.Get("Retry-After"), a.opts.Now())
		return f
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return failed(false, "the model's endpoint does not accept the key (%d)", code)
	case code != http.StatusOK:
		return failed(false, "the model's endpoint answers %d", code)
	}
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return failed(false, "the model's endpoint does not answer with JSON")
	}
	return nil
}

// retryAfter returns the wait that an endpoint asks for, in seconds or until a date; 0 if there is none or it is malformed.
func retryAfter(header string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 63); err == nil {
		return time.Duration(min(n, 1<<20)) * time.Second //nolint:gosec // bounded
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return min(at.Sub(now), 1<<20*time.Second)
	}
	return 0
}

// reason describes briefly why a call failed.
func (a *Adviser) reason(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "it takes longer than " + a.opts.Timeout.String()
	case ctx.Err() != nil:
		return "the call was cancelled"
	}
	var broken *url.Error // contains the address, which callers must not see
	if errors.As(err, &broken) {
		err = broken.Err
	}
	var dialing *net.OpError
	if errors.As(err, &dialing) {
		err = dialing.Err
	}
	return a.keep(err.Error())
}

// keep makes a text fit for records and errors: bounded, and without the key, in case the endpoint repeats it.
func (a *Adviser) keep(text string) string {
	if a.opts.Key != "" {
		text = strings.ReplaceAll(text, a.opts.Key, "[key]")
	}
	return strings.ToValidUTF8(refusal.Clip(text, maxKept), "\uFFFD")
}
