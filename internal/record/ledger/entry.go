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

// TaskKind is the kind of the streams of tasks.
const TaskKind = "task"

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

// Actor identifies the principal that made an entry. It always comes from the credential, never from the request's body.
type Actor struct {
	// Principal is "agent/NAME", "admin/NAME", "operator/NAME", "auditor/NAME" or "system/COMPONENT".
	Principal string `json:"principal"`
	// Token is the id of the token the principal used; empty for the system.
	Token string `json:"token,omitempty"`
	// For is the delegation chain: the principals on whose behalf this one acted, nearest first.
	For []string `json:"for,omitempty"`
}

// Event is one event of an entry: opaque JSON with a name and a version.
type Event struct {
	Name    string
	Version int
	Data    json.RawMessage

	value any // the domain event that this was encoded from; saves decoding it again
}

// Decoded reports whether the event was encoded in this process, so that [Codec.Decode] costs nothing.
func (e *Event) Decoded() bool { return e.value != nil }

// Entry is one decision: all its events or none. See [Entry.Encode] for its bytes.
type Entry struct {
	// Position is assigned by the ledger and not part of the bytes.
	Position Position
	Stream   Stream
	// Version is the number of the entry in its stream, from 1; 0 in streams written without compare-and-set.
	Version uint64
	// Time is the time of the decision, in UTC and whole microseconds.
	Time  time.Time
	Actor Actor
	// Key and Request make repeated calls harmless: the digest of (principal, idempotency key) and that of the request's
	// body. Both are empty if the caller gave no key.
	Key     string
	Request string
	// Enc is the encoding of the payload: [EncNone], which "" also means, or [EncSealed]. KeyID names the key of a sealed payload.
	Enc    string
	KeyID  string
	Events []Event
	// Sealed is the stored payload if Enc is not [EncNone]. With [EncSealed], the data of the events is what the reader could read
	// of it, see [Entry.Unseal], and no part of the bytes; with an encoding that this program does not know, there is no data, and
	// the entry can still be decoded, hashed and copied.
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
