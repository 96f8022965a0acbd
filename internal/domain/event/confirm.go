package event

// ConfirmMode says whether the source confirms a handoff after the receiver has accepted.
type ConfirmMode string

// The confirm modes. The empty mode of a request means ConfirmAuto.
const (
	ConfirmAuto     ConfirmMode = "auto"     // acceptance confirms by itself
	ConfirmExplicit ConfirmMode = "explicit" // the source confirms with a call of its own
)

// ConfirmModes lists every confirm mode.
var ConfirmModes = NewSet("a confirm mode", ConfirmAuto, ConfirmExplicit)

func (m *ConfirmMode) UnmarshalText(b []byte) error { return ConfirmModes.Decode(m, b) }
