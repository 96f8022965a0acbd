package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Least is how long an alert is raised at least. A figure that goes to and fro gives one alert in that time.
const Least = 5 * time.Minute

// Bounds of silences.
const (
	MinSilence = time.Minute
	MaxSilence = 30 * Day
	MaxReason  = 500 // bytes
)

// Command asks for a change of the alerts of a workspace. The set is sealed.
type Command interface{ command() }

// Condition is an alert whose figure is beyond its threshold.
type Condition struct {
	Key
	Value    float64
	Since    time.Time
	Holds    bool      // now; false: it held until Newest, and counts only if it did not count then
	Newest   time.Time // when an [Increase] held last; zero for other measures
	Handoffs []string  // behind it, the most telling first
	Tickets  []string  // behind it, the oldest first; nil: it is not about tickets
	Causes   []string  // of one of an agent: the principals whose handoffs, questions or shares are behind it; nil: it is nobody else's
	Senders  []string  // whose handoffs are behind it, those with most first; nil: it is not about what somebody sends
	Agents   []string  // of one of [Other]: the first that it stands for
	Number   int       // of one of [Other]: how many it stands for
}

// Judge compares what holds with what is raised. It is for the server itself.
type Judge struct {
	Measured   []Definition // as they are in force; the alerts of others stay as they are
	Off        []string     // names of alerts that are switched off
	Conditions []Condition  // of these
	Archived   bool         // the workspace is archived: nothing is raised, and what is raised ends
}

// Silence silences an alert. It is for operators.
type Silence struct {
	By     identity.Principal
	Alert  Key // without an agent, the alert of every agent
	Reason string
	For    time.Duration
}

// EndSilence ends a silence before its time. It is for operators.
type EndSilence struct {
	By identity.Principal
	ID string
}

func (Judge) command()      {}
func (Silence) command()    {}
func (EndSilence) command() {}

// Decide returns the events of a command at the time now. Refusals: unauthenticated and not_permitted for principals that are no
// operators, invalid and too_large for what breaks a rule on its own, not_found for an alert or a silence that is not there, conflict
// for an alert that is silenced at least as long already, limit for one silence too many.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	now = now.UTC()
	switch c := c.(type) {
	case Judge:
		return decideJudge(s, c, now), nil
	case Silence:
		return decideSilence(s, c, now)
	case EndSilence:
		if err := requireOperator(c.By, "end a silence"); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(s.Silences, func(o Silenced) bool { return o.ID == c.ID })
		if i < 0 {
			return nil, refusal.New(refusal.NotFound, "[list the alerts](alerts list) to see the silences", "there is no silence %.40q, or it has ended", c.ID)
		}
		return []Event{s.end(s.Silences[i], c.By.String(), now)}, nil
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

func requireOperator(by identity.Principal, what string) error {
	if by.IsZero() {
		return refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	return identity.Require(by, identity.ActAny, what)
}

// CheckKey refuses (not_found, invalid) what cannot be an alert.
func CheckKey(k Key) error {
	d, ok := Find(k.Name)
	if !ok {
		return refusal.New(refusal.NotFound, "use one of "+strings.Join(Names(), ", "), "there is no alert %.80q", k.Name)
	}
	if k.Agent == "" || k.Agent == Other {
		return nil
	}
	if d.Subject != Agent {
		return refusal.New(refusal.Invalid, "omit the agent", "the alert %s is not about one agent", d.Name)
	}
	return event.CheckName("agent name", k.Agent)
}

func decideSilence(s State, c Silence, now time.Time) ([]Event, error) {
	if err := requireOperator(c.By, "silence an alert"); err != nil {
		return nil, err
	}
	if err := CheckKey(c.Alert); err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(c.Reason) == "":
		return nil, refusal.New(refusal.Invalid, "say in a few words why nobody needs to be notified", "a silence needs a reason").With("field", "reason")
	case c.For < MinSilence || c.For > MaxSilence:
		return nil, refusal.New(refusal.Invalid, "use a time from 1m to 720h", "a silence of %s is out of range", c.For).With("field", "for")
	}
	if err := event.CheckText("the reason", c.Reason, MaxReason); err != nil {
		return nil, err
	}
	if err := event.CheckDescription("the reason", c.Reason, "use plain text"); err != nil {
		return nil, err
	}
	until := now.Add(c.For)
	if o := s.SilencedAt(c.Alert, now); o != nil && !o.Until.Before(until) {
		return nil, refusal.New(refusal.Conflict, "nothing needs to be done; [end that silence](alerts end-silence) first to give another reason",
			"the alert is silenced until %s already, by %s (%s)", o.Until.Format(time.RFC3339), o.By, o.ID)
	}
	if len(s.Silences) >= MaxSilences {
		return nil, refusal.New(refusal.Limit, "[end silences](alerts end-silence) that nobody needs, or silence the alert of all agents", "there are %d silences already", len(s.Silences))
	}
	return []Event{Silenced{ID: fmt.Sprintf("s%d", s.made+1), Alert: c.Alert, Reason: c.Reason, By: c.By.String(), At: now, Until: until}}, nil
}

// end is the end of a silence, with the raised alerts that nothing else silences, and those that recovered meanwhile.
func (s *State) end(o Silenced, by string, now time.Time) SilenceEnded {
	left := *s
	left.Silences = slices.DeleteFunc(slices.Clone(s.Silences), func(other Silenced) bool { return other.ID == o.ID })
	ended := SilenceEnded{ID: o.ID, By: by, At: now}
	for _, a := range s.Alerts {
		if o.Covers(a.Key) && left.SilencedAt(a.Key, now) == nil && left.Within(a.Key) == "" {
			ended.Notified = append(ended.Notified, a.Key)
		}
	}
	for _, a := range s.Past {
		if a.Owed && left.SilencedAt(a.Key, now) == nil {
			ended.Recovered = append(ended.Recovered, a.Key)
		}
	}
	return ended
}

// decideJudge raises what holds and is not raised, lets recover what is raised and does not hold, and ends silences whose time is over.
func decideJudge(s State, c Judge, now time.Time) (events []Event) {
	do := func(e Event) {
		events = append(events, e)
		s = Fold(s, e)
	}
	recovered := func(of map[Key]Condition, others bool) {
		for _, a := range bySeverity(s.Alerts, func(a Alert) string { return a.Name }, 1) {
			measured := slices.ContainsFunc(c.Measured, func(d Definition) bool { return d.Name == a.Name })
			_, defined := Find(a.Name)
			off := slices.Contains(c.Off, a.Name)
			over := off || c.Archived || (measured || !defined) && !of[a.Key].Holds && now.Sub(a.At) >= Least
			if (a.Agent == Other) == others && over {
				e := s.recovered(a, of[a.Key].Newest.UTC(), now)
				e.Off, e.Archived = off, c.Archived
				do(e)
			}
		}
	}
	if c.Archived {
		c.Measured, c.Conditions = nil, nil
	}
	given := map[Key]Condition{}
	for _, o := range c.Conditions {
		given[o.Key] = o
	}
	recovered(given, false)
	together := map[Key]Condition{}
	for _, h := range bySeverity(raisable(&s, c), func(h holding) string { return h.d.Name }, -1) {
		together[h.Key] = h.Condition
		_, there := s.Find(h.Key)
		if fresh := h.d.Measure == Increase && h.Newest.After(s.newest[h.d.Name]); !there && (h.Holds || fresh) {
			do(h.raised(&s, now))
		}
	}
	recovered(together, true)
	for _, o := range slices.Clone(s.Silences) {
		if !now.Before(o.Until) {
			do(s.end(o, "", now))
		}
	}
	return events
}

// recovered is the end of an alert. Nobody is notified of it before a silence ends, except of a milder one that remains, since nothing else tells of that one.
func (s *State) recovered(a Alert, newest time.Time, now time.Time) Recovered {
	e := Recovered{Key: a.Key, At: now, Newest: newest, Remains: s.remains(a, now)}
	e.Notified = a.Notified && (s.SilencedAt(a.Key, now) == nil || e.Remains != "")
	return e
}

// holding is a condition with its definition.
type holding struct {
	Condition
	d Definition
}

// raised is the event that raises it.
func (h *holding) raised(s *State, now time.Time) Raised {
	e := Raised{
		Key: h.Key, Severity: h.d.Severity, Figure: h.d.Figure, Value: h.Value, Threshold: h.d.Threshold, Since: h.Since.UTC(), At: now,
		Handoffs: h.Handoffs[:min(len(h.Handoffs), MaxHandoffs)], Tickets: h.Tickets[:min(len(h.Tickets), MaxHandoffs)], Silenced: s.SilencedAt(h.Key, now) != nil,
		Senders: h.Senders[:min(len(h.Senders), MaxSenders)], Agents: h.Agents, Number: h.Number,
	}
	if len(h.Causes) > 0 {
		e.Cause = h.Causes[0]
	}
	if !e.Silenced {
		e.Within = s.Within(h.Key)
	}
	if h.d.Window > 0 {
		e.Window = event.Duration(h.d.Window).String()
	}
	if h.d.Measure == Increase {
		e.Newest = h.Newest.UTC()
	}
	return e
}
