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
	Expires time.Time

	// NotIssuedBefore is a time of this server's clock that is certainly not after the time when it was issued, however far the clock of the
	// issuer may be ahead; zero: not said.
	NotIssuedBefore time.Time
}
