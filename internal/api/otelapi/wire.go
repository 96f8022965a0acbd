package otelapi

import (
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trapezehq/trapeze/internal/record/span"
)

// Spans are written in the protobuf of OTLP (opentelemetry/proto/trace/v1/trace.proto) by hand: with the types of the SDK, they cost the server a
// multiple. Field numbers are those of the standard, which never change.

const (
	kindInternal = 1
	kindServer   = 2
	statusError  = 2
	valueTag     = 9<<3 | 2 // of an attribute of a span: field 9, bytes
	nameTag      = 1<<3 | 2 // of the key of an attribute: field 1, bytes
	anyTag       = 2<<3 | 2 // of the value of an attribute: field 2, bytes
	textTag      = 1<<3 | 2 // of a text in a value: field 1, bytes
	knowsRemote  = 0x100    // a flag of a span: bit 9 says whether its parent is remote, and is not set
)

func appendText(b []byte, field protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	if !utf8.ValidString(v) { // a collector refuses the whole message
		v = strings.ToValidUTF8(v, "\uFFFD")
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendFixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func appendFlags(b []byte, field protowire.Number, sampled bool) []byte {
	flags := uint32(knowsRemote)
	if sampled {
		flags |= 1
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, field, protowire.Fixed32Type), flags)
}

// openMessage appends the beginning of a message as a field. The fields of the message follow, and then [closeMessage] with start.
func openMessage(b []byte, field protowire.Number) (_ []byte, start int) {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return append(b, 0, 0, 0, 0), len(b) // space for the length, of up to 28 bits; most messages need less
}

func closeMessage(b []byte, start int) []byte {
	size := len(b) - start - 4
	n := protowire.SizeVarint(uint64(size)) //nolint:gosec // not negative
	copy(b[start+n:], b[start+4:])
	protowire.AppendVarint(b[start:start:start+n], uint64(size)) //nolint:gosec // not negative
	return b[:start+n+size]
}

// appendScope appends scope_spans of a ResourceSpans: spans are those that [appendOne] has written.
func appendScope(b []byte, version string, spans []byte) []byte {
	scoped := protowire.SizeTag(1) + protowire.SizeBytes(sizeText(scope)+sizeText(version))
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.BytesType), uint64(scoped+len(spans)))                 //nolint:gosec // not negative
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.BytesType), uint64(sizeText(scope)+sizeText(version))) //nolint:gosec // not negative
	return append(appendText(appendText(b, 1, scope), 2, version), spans...)
}

// appendOne appends a span as a field of scope_spans.
func appendOne(b []byte, s *span.Span) []byte {
	b, start := openMessage(b, 2)
	return closeMessage(appendSpan(b, s), start)
}

func appendSpan(b []byte, s *span.Span) []byte {
	b = appendBytes(b, 1, s.Trace[:])
	b = appendBytes(b, 2, s.ID[:])
	b = appendText(b, 3, s.State)
	if s.Parent != (span.ID{}) {
		b = appendBytes(b, 4, s.Parent[:])
	}
	b = appendText(b, 5, s.Name)
	kind := uint64(kindInternal)
	if s.Server {
		kind = kindServer
	}
	b = appendVarint(b, 6, kind)
	from, to := s.Start.UnixNano(), s.End.UnixNano()
	b = appendFixed(b, 7, uint64(from))          //nolint:gosec // after 1970
	b = appendFixed(b, 8, uint64(max(from, to))) //nolint:gosec // after 1970; the clock may have been set back
	var start int
	for i := range s.Values {
		b = appendValue(b, &s.Values[i])
	}
	for _, l := range s.Links {
		b, start = openMessage(b, 13)
		b = closeMessage(appendFlags(appendBytes(appendBytes(b, 1, l.Trace[:]), 2, l.Span[:]), 6, l.Sampled), start)
	}
	if s.Failed != "" {
		b, start = openMessage(b, 15)
		b = closeMessage(appendVarint(appendText(b, 2, s.Failed), 3, statusError), start)
	}
	return appendFlags(b, 16, true)
}

// sizeText is the size of what appendText appends. v is valid.
func sizeText(v string) int {
	if v == "" {
		return 0
	}
	return 1 + protowire.SizeBytes(len(v)) // of the fields below 16
}

// appendValue appends an attribute as a KeyValue. Its size is computed first: there are many, and a message of unknown size is moved.
func appendValue(b []byte, v *span.Value) []byte {
	text, size := "", 0
	switch v.Of.Type {
	case span.Text:
		if text = v.Text; !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "\uFFFD")
		}
		name := v.Of.Name
		if total := len(name) + len(text) + 6; text != "" && total < 1<<7 { // each length is one byte: so it is of nearly all
			b = append(b, valueTag, byte(total), nameTag, byte(len(name)))                      //nolint:gosec // below 128
			b = append(append(b, name...), anyTag, byte(len(text)+2), textTag, byte(len(text))) //nolint:gosec // below 128
			return append(b, text...)
		}
		size = sizeText(text)
	case span.Integer, span.Truth:
		size = 1 + protowire.SizeVarint(uint64(int64(v.Number))) //nolint:gosec // two's complement
	case span.Number:
		size = 1 + protowire.SizeFixed64()
	}
	b = append(b, valueTag)
	b = protowire.AppendVarint(b, uint64(sizeText(v.Of.Name)+1+protowire.SizeBytes(size))) //nolint:gosec // not negative
	b = append(protowire.AppendVarint(append(b, nameTag), uint64(len(v.Of.Name))), v.Of.Name...)
	b = protowire.AppendVarint(append(b, anyTag), uint64(size)) //nolint:gosec // not negative
	switch v.Of.Type {
	case span.Text:
		b = appendText(b, 1, text)
	case span.Integer:
		b = appendVarint(b, 3, uint64(int64(v.Number))) //nolint:gosec // two's complement
	case span.Truth:
		b = appendVarint(b, 2, uint64(v.Number)) // 0 or 1
	case span.Number:
		b = appendFixed(b, 4, math.Float64bits(v.Number))
	}
	return b
}
