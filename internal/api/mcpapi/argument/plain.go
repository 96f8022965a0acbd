package argument

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// plainly returns the arguments as their sender means them. Models that must fill every field write null or "" for what they would omit,
// some write 45.0 for 45, the id of a handoff for that of its task, or agent/ann for the agent ann. What is none of these is left for the decoder to judge.
func plainly(b json.RawMessage, t reflect.Type) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(b, &given) != nil || given == nil {
		return b
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, there := given[name]
		if name == "" || !there {
			continue
		}
		value = bytes.TrimSpace(value)
		switch optional := options != ""; {
		case optional && (string(value) == "null" || string(value) == `""`):
			delete(given, name)
		case f.Type.Kind() >= reflect.Int && f.Type.Kind() <= reflect.Uint64:
			given[name] = whole(value)
		case name == "task":
			given[name] = ofHandoff.ReplaceAll(value, []byte(`"$1"`))
		case name == "to" || name == "approver":
			given[name] = prefixed.ReplaceAll(value, []byte(`$1"`))
		}
	}
	out, err := json.Marshal(given)
	if err != nil {
		return b
	}
	return out
}

var (
	ofHandoff = regexp.MustCompile(`^"(task_[0-9a-z]+)\.h[0-9]+"$`) // the id of a handoff, which names its task
	prefixed  = regexp.MustCompile(`(^|[\[,]\s*)"agent/`)           // the principal of an agent, or each of a list
)

// exact bounds the floating-point numbers that stand for one integer only.
const exact = 1 << 53

// whole returns a number such as 45.0 or 4.5e1 as an integer, and all else as it is.
func whole(value json.RawMessage) json.RawMessage {
	if !bytes.ContainsAny(value, ".eE") {
		return value
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > exact {
		return value
	}
	return strconv.AppendInt(nil, int64(n), 10)
}
