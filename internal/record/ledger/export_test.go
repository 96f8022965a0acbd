package ledger

import "reflect"

// ReadInOnePass reads the JSON of an event without encoding/json, and reports whether that is possible.
func ReadInOnePass(data []byte, into reflect.Value) bool {
	read := readerOf(into.Type(), 0)
	return read != nil && read(data, into) == len(data)
}
