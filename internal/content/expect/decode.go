package expect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Bounds of the text of a number: enough for every double and every decimal in practice, and far below the sizes at which
// exact arithmetic is slow.
const (
	maxNumber   = 100
	maxExponent = 3 // digits of an exponent
)

// decode reads one JSON value to which a schema can be applied; numbers keep their text. It refuses values that readers
// would understand differently (duplicate keys) and values that would be slow (huge numbers, deep nesting).
func decode(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := value(d, 0)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends too early")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text after the value")
	}
	return v, nil
}

func value(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		return t, checkNumber(string(t))
	case json.Delim:
		if depth++; depth > event.MaxJSONDepth {
			return nil, fmt.Errorf("it is nested deeper than %d levels", event.MaxJSONDepth)
		}
		if t == '[' {
			return list(d, depth)
		}
		return object(d, depth)
	}
	return token, nil
}

func list(d *json.Decoder, depth int) (any, error) {
	all := []any{}
	for d.More() {
		v, err := value(d, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	_, err := d.Token()
	return all, err
}

func object(d *json.Decoder, depth int) (any, error) {
	all := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("a key is not a string")
		}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("it has the key %.40q twice", key)
		}
		if all[key], err = value(d, depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return all, err
}

func checkNumber(s string) error {
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if len(s) > maxNumber || len(strings.TrimLeft(exponent, "+-0")) > maxExponent {
		return fmt.Errorf("the number %.20s… is out of range: write it as text", s)
	}
	return nil
}
