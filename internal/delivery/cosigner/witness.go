package cosigner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	patience  = 10 * time.Second // for one request
	maxAnswer = 16 << 10         // bytes
	maxTries  = 3                // requests for one checkpoint, with the sizes that the witness names
)

// Witness is a witness that is asked.
type Witness struct {
	URL string // the prefix of its calls
	Key proof.WitnessKey
}

// Parse reads a witness: URL=KEY. It refuses (invalid) what is none.
func Parse(spec string) (Witness, error) {
	at, key, _ := strings.Cut(spec, "=")
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Witness{}, refusal.New(refusal.Invalid, "use URL=KEY, such as https://witness.example.org=NAME+HASH+KEY", "%.60q does not begin with the URL of a witness", spec)
	}
	k, err := proof.ParseWitnessKey(key)
	if err != nil {
		return Witness{}, refusal.New(refusal.Invalid, "use URL=KEY with the key that the witness prints", "%.60q has no key of a witness after the URL", spec)
	}
	return Witness{strings.TrimRight(at, "/"), k}, nil
}

// Finding is what a witness refuses: the log was rolled back, or is a fork of what it cosigned.
type Finding struct{ What string }

func (f Finding) Error() string { return "cosigner: " + f.What }

// asked is a witness, with what is known of it.
type asked struct {
	Witness
	size  int64     // of the checkpoint that it cosigned last, as far as is known
	fails int       // in a row
	next  time.Time // when it is asked again
	found error     // a Finding; nil: none
}

// cosign asks for a cosignature of a checkpoint, and returns its line. Errors: Finding, and others that may pass.
func (a *asked) cosign(ctx context.Context, with *http.Client, log Log, c proof.Checkpoint, msg []byte) ([]byte, error) {
	for range maxTries {
		if a.size > c.Size {
			size := a.size
			a.size = 0 // it is asked again, later
			return nil, Finding{fmt.Sprintf("the witness %s has cosigned %d entries, and the record has %d: it was rolled back, or restored from an older backup", a.Key.Name(), size, c.Size)}
		}
		body := fmt.Appendf(nil, "old %d\n", a.size)
		if a.size > 0 && a.size < c.Size {
			path, err := tlog.ProveTree(c.Size, a.size, log)
			if err != nil {
				return nil, err
			}
			for _, h := range path {
				body = fmt.Appendf(body, "%s\n", h)
			}
		}
		status, answer, err := a.post(ctx, with, append(append(body, '\n'), msg...))
		switch {
		case err != nil:
			return nil, err
		case status == http.StatusOK:
			list, line, err := proof.Cosignatures(append(msg[:len(msg):len(msg)], answer...), []proof.WitnessKey{a.Key})
			if err != nil || len(list) == 0 {
				return nil, fmt.Errorf("the witness %s does not answer with a cosignature by its key: %w", a.Key.Name(), err)
			}
			a.size = c.Size
			return line, nil
		case status == http.StatusConflict:
			size, err := strconv.ParseInt(strings.TrimSuffix(string(answer), "\n"), 10, 64)
			if err != nil || size < 0 || size == a.size {
				return nil, fmt.Errorf("the witness %s refuses the size %d, and names %.20q", a.Key.Name(), a.size, answer)
			}
			a.size = size
		case status == http.StatusUnprocessableEntity:
			size := a.size
			a.size = 0
			return nil, Finding{fmt.Sprintf("the witness %s has cosigned another history up to position %d: the record was changed, or is a fork", a.Key.Name(), size)}
		default:
			return nil, fmt.Errorf("the witness %s answers with the status %d: %.100q", a.Key.Name(), status, answer)
		}
	}
	return nil, fmt.Errorf("the witness %s names another size each time", a.Key.Name())
}

// post makes a request. An error may pass.
func (a *asked) post(ctx context.Context, with *http.Client, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+"/add-checkpoint", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	res, err := with.Do(req)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err = errors.Join(err, res.Body.Close()); err == nil && len(answer) > maxAnswer {
		err = fmt.Errorf("the answer of the witness %s is too large", a.Key.Name())
	}
	return res.StatusCode, answer, err
}
