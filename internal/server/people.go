package server

import (
	"github.com/trapezehq/trapeze/internal/api/oauth"
)

// PeopleText is the configuration of people who sign in at the issuer, as it is written.
type PeopleText struct {
	Client, Secret string
	Name, Groups   string
	Domain         string
	Roles          []string // GROUP=ROLE, or GROUP=ROLE@WORKSPACE
	Scopes         []string
}

// People parses the configuration of people. The error has code invalid.
func People(t PeopleText) (oauth.People, error) {
	p := oauth.People{Client: t.Client, Secret: t.Secret, Name: t.Name, Groups: t.Groups, Domain: t.Domain, Scopes: t.Scopes}
	if t.Client == "" && len(t.Roles) == 0 {
		p.Secret = "" // of the environment, for nobody
	}
	for _, text := range t.Roles {
		r, err := oauth.ParseRule(text)
		if err != nil {
			return p, err
		}
		p.Roles = append(p.Roles, r)
	}
	return p, nil
}
