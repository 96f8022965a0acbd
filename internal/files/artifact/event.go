package artifact

// Event is an event of one artifact of a workspace. [Events] lists all of them.
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{Stored{}, Released{}}

// Stored: a principal put the content, for the first time or after it was released.
type Stored struct {
	Digest Digest `json:"digest"`
	Bytes  int64  `json:"bytes"`
	By     string `json:"by"` // the principal that put it
}

// Released: no envelope refers to the content, and it was not put for a while. It is deleted, unless it is put again at the
// same time.
type Released struct {
	Digest Digest `json:"digest"`
}

// EventName is "artifact-stored".
func (Stored) EventName() string { return "artifact-stored" }

// EventName is "artifact-released".
func (Released) EventName() string { return "artifact-released" }
