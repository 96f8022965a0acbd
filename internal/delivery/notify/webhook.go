package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxRead is the number of bytes of an answer that are read, so that its connection can be reused.
const maxRead = 4 << 10

// webhook posts notices as JSON.
type webhook struct {
	url    *url.URL
	client *http.Client
}

func newWebhook(u *url.URL) *webhook {
	return &webhook{url: u, client: &http.Client{
		Timeout:       Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Name implements [Sink]. It omits the rest of the URL, which may be secret.
func (w *webhook) Name() string {
	return "webhook:" + w.url.Scheme + "://" + w.url.Host + "#" + Mark(w.url.String())
}

// Send implements [Sink].
func (w *webhook) Send(ctx context.Context, m Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: the URL cannot be called", ErrRefused)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", m.Key())
	resp, err := w.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s cannot be reached: %w", w.Name(), cause(err))
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxRead) // the content does not matter
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		return fmt.Errorf("%s answers %d", w.Name(), code)
	default:
		return fmt.Errorf("%w: %s answers %d", ErrRefused, w.Name(), code)
	}
}

// cause removes the URL that the client puts before an error.
func cause(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // the client's own, never wrapped
		return e.Err
	}
	return err
}
