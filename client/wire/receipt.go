package wire

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/domain/fastjson"
)

// Receipt is the receipt of what a call changed: a file that others verify without the server.
type Receipt struct {
	Text    string `json:"receipt"`         // proofs of the entries that the call made; empty: see Missing
	Missing string `json:"receipt_missing"` // why there is none, although the call succeeded
}

type receiptKey struct{}

// WithReceipt returns a context for one call that asks for the receipt of what it changes, and writes it to r.
func WithReceipt(ctx context.Context, r *Receipt) context.Context {
	return context.WithValue(ctx, receiptKey{}, r)
}

// receiptOf is where the receipt of a call goes; nil: none is asked for.
func receiptOf(ctx context.Context, method string) *Receipt {
	if method == http.MethodGet || method == http.MethodHead {
		return nil
	}
	r, _ := ctx.Value(receiptKey{}).(*Receipt)
	return r
}

// read reads the receipt in an answer.
func (r *Receipt) read(answer []byte) error {
	if r == nil {
		return nil
	}
	*r = Receipt{}
	err := fastjson.Unmarshal(answer, r)
	if err == nil && r.Text == "" && r.Missing == "" {
		r.Missing = "the server gives no receipts of this call"
	}
	return err
}
