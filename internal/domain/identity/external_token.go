package identity

import "time"

// ExternalToken is the verified content of a token of an outside issuer.
type ExternalToken struct {
	Issuer  string
	Subject string // the issuer's own name for who it is
	Client  string // the program that the token was given to; empty: not said
	ID      string // the token's; empty: not said
	Name    string // of the agent that it says this is; whether there is one is not said
	Scopes  Scopes
	Issued  time.Time // zero: not said
	Expires time.Time
}
