package access

import "time"

// What is on record beside the changes: reads of content, exports, attempts that were refused, and tokens of outside
// issuers. These entries go to a stream per principal, without compare-and-set, so that they never make a task's writer
// retry.
type (
	// ContentRead: a principal was given content of a task, or something that is known.
	ContentRead struct {
		Task   string   `json:"task"`
		What   string   `json:"what"`
		Digest string   `json:"digest,omitempty"`
		Items  []string `json:"items,omitempty"` // ids of what was given, if it was several at once
	}
	// Exported: a principal was given records.
	Exported struct {
		What   string `json:"what"`
		Format string `json:"format"`
	}
	// Refused: a principal was told no. Suppressed counts the refusals before it that the rate limit kept out.
	Refused struct {
		Verb       string `json:"verb"`
		Subject    string `json:"subject,omitempty"`
		Code       string `json:"code"`
		Message    string `json:"message"`
		Suppressed int    `json:"suppressed,omitempty"`
	}
	// Vouched: an outside issuer's token was taken for a principal's.
	Vouched struct {
		Token   string    `json:"token"` // as the actors of the entries made with it have it
		Issuer  string    `json:"issuer"`
		Subject string    `json:"subject"`
		Client  string    `json:"client,omitempty"`
		ID      string    `json:"id,omitempty"` // the issuer's, of the token
		Scope   string    `json:"scope"`
		Expires time.Time `json:"expires"`
	}
)

// event is one of the four.
type event interface{ EventName() string }

var events = []event{ContentRead{}, Exported{}, Refused{}, Vouched{}}

// EventName is "content-read".
func (ContentRead) EventName() string { return "content-read" }

// EventName is "record-exported".
func (Exported) EventName() string { return "record-exported" }

// EventName is "attempt-refused".
func (Refused) EventName() string { return "attempt-refused" }

// EventName is "principal-vouched".
func (Vouched) EventName() string { return "principal-vouched" }
