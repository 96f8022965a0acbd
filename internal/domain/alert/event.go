package alert

import "time"

// Event is an event of the alerts of a workspace. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{
	Raised{},
	Recovered{},
	Silenced{},
	SilenceEnded{},
}

// Key names an alert: the name of its definition and, for one of an agent, the agent.
type Key struct {
	Name  string `json:"name"`
	Agent string `json:"agent,omitempty"` // or [Other]; absent: it is not of one agent, or of the inbox of the operators
}

// Raised is an alert that is raised.
type Raised struct {
	Key
	Severity  Severity  `json:"severity"`
	Figure    string    `json:"figure"`             // the instrument
	Value     float64   `json:"value"`              // of the figure
	Threshold float64   `json:"threshold"`          // that was in force
	Window    string    `json:"window,omitempty"`   // of time that was in force, such as 1h; absent: the value is of one moment
	Since     time.Time `json:"since"`              // when it began to hold
	At        time.Time `json:"at"`                 // when it was raised
	Newest    time.Time `json:"newest,omitzero"`    // when the increase that it counts held last
	Handoffs  []string  `json:"handoffs,omitempty"` // at most 5 that are behind it, the most telling first
	Tickets   []string  `json:"tickets,omitempty"`  // at most 5 that are behind it, the oldest first; absent: it is not about tickets
	Senders   []string  `json:"senders,omitempty"`  // at most 5 whose handoffs are behind it, those with most first; absent: it is not about what somebody sends
	Silenced  bool      `json:"silenced,omitempty"` // people are not notified
	// Cause is the principal that it was counted for, of those whose handoffs, questions or shares are behind it: of one name, one principal causes no
	// more than half of the alerts of single agents. Absent: it is of no agent, or nobody else caused it.
	Cause  string   `json:"cause,omitempty"`
	Agents []string `json:"agents,omitempty"` // of [Other]: the first of the agents that it stands for, at most 50
	Number int      `json:"number,omitempty"` // of [Other]: of how many agents it is
	// Within is the severer alert of the same figure that is raised too; people were notified of that one, and are not of this one.
	// Absent: there is none.
	Within string `json:"within,omitempty"`
}

// Recovered is an alert that no longer holds, or is judged no more.
type Recovered struct {
	Key
	At       time.Time `json:"at"`
	Notified bool      `json:"notified,omitempty"` // people are notified of its end: they were notified of it, and it is not silenced, or a milder one remains. False for one that recovers during a silence: see SilenceEnded.Recovered
	Newest   time.Time `json:"newest,omitzero"`    // when the increase that it counts held last
	// Remains is the milder alert of the same figure that is still raised: the notice of the recovery says so, and people are notified of
	// its end. Absent: there is none.
	Remains string `json:"remains,omitempty"`
	// Off says that the policy switched the alert off: its condition may still hold.
	Off bool `json:"off,omitempty"`
	// Archived says that the workspace was archived: its condition may still hold.
	Archived bool `json:"archived,omitempty"`
}

// Silenced is a silence that begins: people are not notified of an alert.
type Silenced struct {
	ID     string    `json:"id"`
	Alert  Key       `json:"alert"` // without an agent, the alert of every agent
	Reason string    `json:"reason"`
	By     string    `json:"by"` // the principal
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`
}

// SilenceEnded is the end of a silence.
type SilenceEnded struct {
	ID       string    `json:"id"`
	By       string    `json:"by,omitempty"` // the principal that ended it; absent: its time was over
	At       time.Time `json:"at"`
	Notified []Key     `json:"notified,omitempty"` // the alerts that are still raised, of which people are notified now
	// Recovered are alerts that recovered during it and were not raised again: people were notified of them, and are of their end now.
	Recovered []Key `json:"recovered,omitempty"`
}

// EventName is "alert-raised".
func (Raised) EventName() string { return "alert-raised" }

// EventName is "alert-recovered".
func (Recovered) EventName() string { return "alert-recovered" }

// EventName is "alert-silenced".
func (Silenced) EventName() string { return "alert-silenced" }

// EventName is "alert-silence-ended".
func (SilenceEnded) EventName() string { return "alert-silence-ended" }
