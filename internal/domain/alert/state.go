package alert

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Bounds of what a workspace has.
const (
	MaxAgents   = 20  // that have an alert of the same name; those beyond have one together, of [Other]
	MaxOfCause  = 10  // of these, what one principal causes
	MaxNamed    = 50  // agents that the alert of [Other] names
	MaxHandoffs = 5   // that an alert names, and tickets
	MaxSenders  = 5   // that an alert names
	MaxSilences = 100 // at a time
	MaxPast     = 50  // alerts that recovered and are remembered, and those whose end people are to hear of
)

// Other is the agent of an alert of all agents past [MaxAgents]. No agent can have that name.
const Other = "(others)"

// Alert is an alert that is raised, or was.
type Alert struct {
	Raised
	Recovered time.Time // zero: it is raised
	Notified  bool      // people were notified of it, or of the one before it and not of the end of that
	Owed      bool      // of one that recovered during a silence: people were notified of it, and are of its end with that of the silence
	Remains   string    // of one that recovered: the milder one that was still raised; see [Recovered]
	Off       bool      // of one that recovered: the policy switched it off
	Archived  bool      // of one that recovered: the workspace was archived
}

// State is the alerts and the silences of a workspace. It is immutable. The zero State has none.
type State struct {
	Alerts   []Alert    // raised, by name and agent
	Past     []Alert    // recovered, the newest first
	Silences []Silenced // the oldest first

	made   int                  // silences that were ever made
	newest map[string]time.Time // by name: what counted already
}

// Find returns the raised alert of a key; ok is false if it is not raised.
func (s *State) Find(k Key) (a Alert, ok bool) {
	i, ok := slices.BinarySearchFunc(s.Alerts, k, func(a Alert, k Key) int { return a.compare(k) })
	if !ok {
		return Alert{}, false
	}
	return s.Alerts[i], true
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Name, o.Name), cmp.Compare(k.Agent, o.Agent))
}

// Covers reports whether the silence is about an alert.
func (s *Silenced) Covers(k Key) bool {
	return s.Alert.Name == k.Name && (s.Alert.Agent == "" || s.Alert.Agent == k.Agent)
}

// SilencedAt returns the silence of an alert that runs at a time, of several the one that ends last; nil if there is none.
func (s *State) SilencedAt(k Key, now time.Time) *Silenced {
	var last *Silenced
	for i := range s.Silences {
		if one := &s.Silences[i]; one.Covers(k) && now.Before(one.Until) && (last == nil || one.Until.After(last.Until)) {
			last = one
		}
	}
	return last
}

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case Raised:
		s.Alerts = s.without(e.Key)
		i, _ := slices.BinarySearchFunc(s.Alerts, e.Key, func(a Alert, k Key) int { return a.compare(k) })
		owed := slices.ContainsFunc(s.Past, func(a Alert) bool { return a.Owed && a.Key == e.Key }) // to people it never ended
		s.Alerts = slices.Insert(s.Alerts, i, Alert{Raised: e, Notified: owed || !e.Silenced && e.Within == ""})
		s.settle(func(k Key) bool { return k == e.Key }) // of that end nobody needs to hear
		s.counted(e.Name, e.Newest)
	case Recovered:
		a, ok := s.Find(e.Key)
		if !ok {
			return s
		}
		s.counted(e.Name, e.Newest)
		a.Within, a.Recovered, a.Remains, a.Off, a.Archived = s.Within(e.Key), e.At, e.Remains, e.Off, e.Archived
		s.Alerts = s.without(e.Key)
		for i := range s.Alerts { // a copy
			if s.Alerts[i].Key == (Key{e.Remains, e.Agent}) {
				s.Alerts[i].Notified = true
			}
		}
		a.Owed = a.Notified && !e.Notified
		kept := 0
		s.Past = append([]Alert{a}, s.Past...)
		s.Past = slices.DeleteFunc(s.Past, func(a Alert) bool { kept++; return kept > MaxPast && !a.Owed })
	case Silenced:
		s.made++
		s.Silences = append(slices.Clone(s.Silences), e)
	case SilenceEnded:
		s.Silences = slices.DeleteFunc(slices.Clone(s.Silences), func(o Silenced) bool { return o.ID == e.ID })
		s.Alerts = slices.Clone(s.Alerts)
		for i := range s.Alerts {
			if slices.Contains(e.Notified, s.Alerts[i].Key) {
				s.Alerts[i].Notified = true
			}
		}
		s.settle(func(k Key) bool { return s.SilencedAt(k, e.At) == nil })
	}
	return s
}

// settle notes that people need not hear any more of the end of alerts that recovered.
func (s *State) settle(which func(Key) bool) {
	s.Past = slices.Clone(s.Past)
	for i := range s.Past {
		if which(s.Past[i].Key) {
			s.Past[i].Owed = false
		}
	}
}

// without returns a copy of the raised alerts but one.
func (s *State) without(k Key) []Alert {
	return slices.DeleteFunc(slices.Clone(s.Alerts), func(a Alert) bool { return a.Key == k })
}

// counted notes what counted for the alert of a name.
func (s *State) counted(name string, at time.Time) {
	if !at.After(s.newest[name]) {
		return
	}
	newest := maps.Clone(s.newest)
	if newest == nil {
		newest = map[string]time.Time{}
	}
	newest[name] = at
	s.newest = newest
}
