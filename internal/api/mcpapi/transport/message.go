package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// faultOf returns what is wrong with a body that the SDK would misread, or "". The SDK reads only the first value of a body, rounds ids,
// and answers only one of several calls in a batch that have the same id.
func faultOf(body []byte) string {
	text := bytes.TrimSpace(body)
	switch {
	case len(text) == 0: // the SDK refuses an empty body
		return ""
	case !json.Valid(text):
		return "the message is not JSON: a body is one message, or one batch of messages"
	case text[0] != '[':
		id, _ := callOf(text)
		return faultOfID(id)
	}
	var members []json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Sprintf("the batch is malformed: %.200s", err)
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
		var key any // decoded: the same id can be written in more than one way
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

// callOf returns the id of a message, nil if it has none, and whether it calls a method.
func callOf(message []byte) (id json.RawMessage, call bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return nil, false // the SDK refuses it
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
	return "an id must be a string or an integer between -2^53 and 2^53"
}

// Identifies reports whether an id, as JSON, can be returned unchanged.
func Identifies(id json.RawMessage) bool {
	const exact = 1 << 53 // larger numbers lose precision in JSON
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -exact < n && n < exact
}
