package ledger

import "reflect"

// ReadInOnePass reads the JSON of an event without encoding/json, and reports whether that is possible.
func ReadInOnePass(data []byte, into reflect.Value) bool {
	read := readerOf(into.Type(), 0)
	return read != nil && read(data, into) == len(data)
}

// WriteInOnePass writes an event without encoding/json, and reports whether that is possible.
func WriteInOnePass(event any) ([]byte, bool) {
	t := reflect.TypeOf(event)
	write := writerOf(t, 0)
	if write == nil {
		return nil, false
	}
	v := reflect.New(t).Elem()
	v.Set(reflect.ValueOf(event))
	return write(nil, v)
}
