package identity

import "time"

// ExternalToken is the verified content of a token of an outside issuer.
type ExternalToken struct {
	Issuer  string
	Subject string // the issuer's own name for who it is
	Client  string // the program that the token was given to; empty: not said
	ID      string // the token's; empty: not said
	// Role, Workspace and Name are the principal that it says this is. Whether there is such an agent, or workspace, is not said.
	Role      Role
	Workspace string
	Name      string
	Person    string // at the client of an agent, by name; empty: nobody
	// SignIn: it shows that a person signed in at the issuer, and has no scopes: it may be used for all that the role may do.
	SignIn  bool
	Scopes  Scopes
	Expires time.Time

	// NotIssuedBefore is a time of this server's clock that is certainly not after the time when it was issued, however far the clock of the
	// issuer may be ahead; zero: not said.
	NotIssuedBefore time.Time
}
