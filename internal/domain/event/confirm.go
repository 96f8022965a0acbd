package event

// ConfirmMode says whether the source confirms a handoff after the receiver has accepted.
type ConfirmMode string

// The confirm modes. The empty mode of a request means ConfirmAuto.
const (
	ConfirmAuto     ConfirmMode = "auto"     // acceptance confirms by itself
	ConfirmExplicit ConfirmMode = "explicit" // the source confirms with a call of its own
)

var confirmModes = NewSet("confirm mode", ConfirmAuto, ConfirmExplicit)

// ConfirmModes lists every confirm mode.
func ConfirmModes() []ConfirmMode { return confirmModes.Values() }

// UnmarshalText refuses unknown modes.
func (m *ConfirmMode) UnmarshalText(b []byte) error { return confirmModes.Decode(m, b) }
