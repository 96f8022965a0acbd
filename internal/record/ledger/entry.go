package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Stream names one sequence of entries: workspace/kind/id, for example "default/task/task_01jd…". No part may be
// empty or contain '/', a control character or white space.
type Stream string

// StreamOf joins the three parts of a stream's name.
func StreamOf(workspace, kind, id string) Stream {
	return Stream(workspace + "/" + kind + "/" + id)
}

// Parts splits the name into workspace, kind and id.
func (s Stream) Parts() (workspace, kind, id string) {
	workspace, rest, _ := strings.Cut(string(s), "/")
	kind, id, _ = strings.Cut(rest, "/")
	return workspace, kind, id
}

// Actor says who made an entry, always taken from the credential and never from the request's body.
type Actor struct {
	// Principal is "agent/NAME", "admin/NAME", "operator/NAME", "auditor/NAME" or "system/ROOM".
	Principal string `json:"principal"`
	// Token is the id of the token the principal used; empty for the system.
	Token string `json:"token,omitempty"`
	// For is the delegation chain: on whose behalf the principal acted, nearest first.
	For []string `json:"for,omitempty"`
}

// Event is one fact inside an entry: opaque JSON with a name and a version.
type Event struct {
	Name    string
	Version int
	Data    json.RawMessage

	value any // the domain event this was encoded from or decoded to; saves decoding it again
}

// Entry is one decision: all its events or none. See [Entry.Encode] for its bytes.
type Entry struct {
	// Position is assigned by the ledger and not part of the bytes: it is the entry's place in the log.
	Position Position
	Stream   Stream
	// Version is the entry's number in its stream, from 1; 0 in streams written without compare-and-set.
	Version uint64
	// Time is when the decision was made, UTC, in microseconds.
	Time  time.Time
	Actor Actor
	// Key and Request make repeats harmless: the digest of (principal, idempotency key) and of the request's
	// body. Both empty if the caller gave no key.
	Key     string
	Request string
	// Enc says how the payload is encoded: [EncNone] now, which "" also means. KeyID names the key once payloads
	// are encrypted.
	Enc    string
	KeyID  string
	Events []Event
	// Sealed is the payload as stored if Enc is not [EncNone]; the events then have names and versions but no
	// Data. Such entries can be decoded, hashed and copied by a program that does not know the encoding.
	Sealed []byte
}

// EncNone is the encoding of a readable payload: the JSON array of the events' data.
const EncNone = "none"

func (e Entry) String() string {
	names := make([]string, len(e.Events))
	for i, ev := range e.Events {
		names[i] = ev.Name
	}
	return fmt.Sprintf("%d %s v%d %s %s", e.Position, e.Stream, e.Version, e.Actor.Principal, strings.Join(names, ","))
}
