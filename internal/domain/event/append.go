package event

import (
	"bytes"
	"encoding/json"
)

// AppendJSON appends the event as encoding/json writes it without escaping HTML, but copies the envelope's bytes, which are
// compact, as they are: envelopes are most of the record, and encoding them again would cost most of its time.
func (s Sealed) AppendJSON(b []byte) []byte {
	b = appendText(append(b, `{"digest":`...), s.Digest)
	if s.Parent != "" {
		b = appendText(append(b, `,"parent":`...), s.Parent)
	}
	if s.Trace != "" {
		b = appendText(append(b, `,"trace":`...), s.Trace)
	}
	b = append(b, `,"envelope":`...)
	if s.Bytes == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, s.Bytes...)
	}
	if s.Measured != nil {
		m, err := json.Marshal(s.Measured)
		if err != nil {
			panic(err) // figures always have JSON
		}
		b = append(append(b, `,"measured":`...), m...)
	}
	return append(b, '}')
}

func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return appendQuoted(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendQuoted(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always has JSON
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
