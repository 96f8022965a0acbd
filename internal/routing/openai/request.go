package openai

import (
	"context"
	"encoding/json"
	"errors"
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
	again   bool          // another try may succeed
	refused bool          // the service says that the request is at fault
	after   time.Duration // the wait that the endpoint asks for
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
	body, billed, f := a.post(ctx, q.body, maxBody)
	if !billed {
		cost = 0
	}
	told.Answer = a.keep(string(body))
	if f != nil {
		return "", f
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
