package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// faultOf says what is wrong with a body where the SDK would take it for another than it is; empty: nothing. It reads the first
// value of a body and no more, rounds ids, and answers one of the calls in a batch that have the same.
func faultOf(body []byte) string {
	text := bytes.TrimSpace(body)
	switch {
	case len(text) == 0: // there is nothing to read, or the SDK says so
		return ""
	case !json.Valid(text):
		return "the message is not JSON: a body is one message, or a batch of them, and nothing else"
	case text[0] != '[':
		id, _ := callOf(text)
		return faultOfID(id)
	}
	var members []json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Sprintf("this is no batch: %.200s", err)
	}
	if len(members) > MaxBatch {
		return fmt.Sprintf("a batch has at most %d messages: send the rest in another", MaxBatch)
	}
	seen := map[any]bool{}
	for _, m := range members {
		id, call := callOf(m)
		if fault := faultOfID(id); fault != "" {
			return fault
		}
		var key any // as it is meant: the same may be written in more than one way
		if !call || id == nil || json.Unmarshal(id, &key) != nil {
			continue
		}
		if seen[key] {
			return fmt.Sprintf("the batch has two calls with the id %.80s: give every call an id of its own", id)
		}
		seen[key] = true
	}
	return ""
}

// callOf is the id of a message, nil where it has none, and whether a method is called.
func callOf(message []byte) (id json.RawMessage, call bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return nil, false // which the SDK refuses
	}
	if id = fields["id"]; string(id) == "null" {
		id = nil
	}
	return id, fields["method"] != nil
}

func faultOfID(id json.RawMessage) string {
	if id == nil || Identifies(id) {
		return ""
	}
	return "an id is a string or a whole number"
}

// Identifies reports whether an id, as it is written in JSON, is one that comes back as it was.
func Identifies(id json.RawMessage) bool {
	const exact = 1 << 53 // beyond it, JSON's numbers are not
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -exact < n && n < exact
}
