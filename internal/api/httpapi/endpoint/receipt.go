package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// preferReceipt is the preference (RFC 7240) for the receipt of what a call changes.
const preferReceipt = "receipt"

// Proven is what the answer to a call that prefers a receipt has besides.
type Proven struct {
	Receipt string `json:"receipt,omitempty" doc:"The entries that the call made, each with the proof that it is in the record (c2sp.org/tlog-proof), if Prefer: receipt asked for it."`
	Missing string `json:"receipt_missing,omitempty" doc:"Why there is no receipt, although one was asked for and the call succeeded."`
}

// prefersReceipt reports whether a request prefers a receipt.
func prefersReceipt(r *http.Request) bool {
	for _, value := range r.Header.Values("Prefer") {
		for p := range strings.SplitSeq(value, ",") {
			p, _, _ = strings.Cut(p, ";")
			if strings.EqualFold(strings.TrimSpace(p), preferReceipt) {
				return true
			}
		}
	}
	return false
}

// Collect has the entries of a call collected if it prefers a receipt, and reports whether it does.
func Collect(ctx context.Context) bool {
	v := requestOf(ctx)
	if v == nil || v.r.Method == http.MethodGet || v.r.Method == http.MethodHead || !prefersReceipt(v.r) {
		return false
	}
	v.caller = v.caller.Collecting()
	return true
}

// WithReceipt is the answer to a call with its receipt or, if there is none, with why. The change stands in any case.
func (d *Router) WithReceipt(ctx context.Context, answer any) any {
	out := proven{answer: answer}
	text, err := d.receipt(ctx, Caller(ctx))
	switch r, ok := refusal.As(err); {
	case err == nil:
		out.Receipt = string(text)
		requestOf(ctx).w.Header().Set("Preference-Applied", preferReceipt)
	case ok:
		out.Missing = r.Message
	default:
		out.Missing = d.Internal(ctx, err).Detail
	}
	return out
}

// proven is the document of an answer with the fields of [Proven] at its end.
type proven struct {
	Proven
	answer any
}

// MarshalJSON implements [json.Marshaler].
func (p proven) MarshalJSON() ([]byte, error) {
	var b, more bytes.Buffer
	if err := encode(&b, p.answer); err != nil {
		return nil, err
	}
	if err := encode(&more, p.Proven); err != nil {
		return nil, err
	}
	doc, isObject := bytes.CutSuffix(bytes.TrimSpace(b.Bytes()), []byte("}"))
	if !isObject {
		return b.Bytes(), nil
	}
	if len(doc) > 1 {
		doc = append(doc, ',')
	}
	return append(doc, bytes.TrimSpace(more.Bytes())[1:]...), nil
}

var _ json.Marshaler = proven{}

// DescribeReceipt adds the fields of a receipt to the schema of an answer.
func (d *Router) DescribeReceipt(op *huma.Operation) {
	more := d.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Proven](), true, "Proven")
	for _, r := range op.Responses {
		if m := r.Content[jsonMedia]; m != nil {
			m.Schema = &huma.Schema{AllOf: []*huma.Schema{m.Schema, more}}
		}
	}
}

// Prefer describes the preference for a receipt, for routes that no function here serves.
func Prefer() *huma.Param {
	return &huma.Param{Name: "Prefer", In: "header", Description: "receipt (RFC 7240): the answer has the receipt of what the call changed.", Schema: &huma.Schema{Type: huma.TypeString}}
}
