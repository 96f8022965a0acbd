package event

// Rejection is why a receiver does not take an offer.
type Rejection string

// The rejections.
const (
	NotCapable     Rejection = "not_capable"
	Overloaded     Rejection = "overloaded"
	MissingContext Rejection = "missing_context" // the missing fields are named
	Refused        Rejection = "refused"
)

// Rejections lists every rejection.
var Rejections = NewSet("a rejection", NotCapable, Overloaded, MissingContext, Refused)

func (r *Rejection) UnmarshalText(b []byte) error { return Rejections.Decode(r, b) }

// MaxMissing is how many missing fields a rejection or a report may name.
const MaxMissing = 32

// CheckMissing refuses a list of missing fields that has too many, or a name of more than 256 bytes.
func CheckMissing(fields []string) error {
	if err := checkCount("missing fields", len(fields), MaxMissing, "name those that matter most"); err != nil {
		return err
	}
	for _, m := range fields {
		if err := CheckText("a missing field", m, MaxName*4); err != nil {
			return err
		}
	}
	return nil
}
