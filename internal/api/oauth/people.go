package oauth

import (
	"slices"
	"strings"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Defaults of [People].
const (
	DefaultName   = "preferred_username"
	DefaultGroups = "groups"
	DefaultScope  = "openid profile email"
)

// People configures which people the tokens of an issuer name, and how they sign in. The zero value is nobody.
type People struct {
	// Client is the id of this server's client at the issuer, by which people sign in; empty: they cannot. Secret is that of a confidential client; a
	// public one has none.
	Client, Secret string
	// Name is the claim with the name of the person; empty means [DefaultName]. The letters of the name become lower case.
	Name string
	// Domain is that of the addresses that are names: with example.org, ann@example.org is the person ann, and nobody without that domain is a person. Empty:
	// addresses are no names.
	Domain string
	// Groups is the claim with the groups of the person; empty means [DefaultGroups].
	Groups string
	// Roles are the roles of groups. The first rule whose group a person is in counts; a person without one may do nothing.
	Roles []Rule
	// Scopes are asked of the issuer when people sign in; nil means those of [DefaultScope].
	Scopes []string
}

// Rule gives a role in a workspace to the people of a group.
type Rule struct {
	Group     string
	Role      identity.Role
	Workspace string
}

// ParseRule parses a rule, GROUP=ROLE or GROUP=ROLE@WORKSPACE. The error has code invalid.
func ParseRule(text string) (Rule, error) {
	const hint = "write GROUP=ROLE, such as trapeze-admins=admin, or GROUP=ROLE@WORKSPACE; the roles are admin, operator and auditor"
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return Rule{}, refusal.New(refusal.Invalid, hint, "%.200q gives no group a role", text)
	}
	role, workspace, named := strings.Cut(text[at+1:], "@")
	r := Rule{Group: text[:at], Role: identity.Role(role), Workspace: workspace}
	if !named {
		r.Workspace = identity.DefaultWorkspace
	}
	return r, r.check(hint)
}

func (r Rule) check(hint string) error {
	if r.Role == identity.Agent || !identity.Roles.Has(r.Role) {
		return refusal.New(refusal.Invalid, hint, "the group %.200q cannot have the role %.40q", r.Group, string(r.Role))
	}
	return event.CheckName("the workspace's name", r.Workspace)
}

func (p People) withDefaults() People {
	if p.Name == "" {
		p.Name = DefaultName
	}
	if p.Groups == "" {
		p.Groups = DefaultGroups
	}
	if p.Scopes == nil {
		p.Scopes = strings.Fields(DefaultScope)
	}
	return p
}

func (p People) check() error {
	const hint = "give both: the client with --oidc-client ID, and a role with --oidc-role GROUP=ROLE"
	switch {
	case p.Client != "" && len(p.Roles) == 0:
		return refusal.New(refusal.Invalid, hint, "people can sign in, but no group has a role")
	case p.Secret != "" && p.Client == "":
		return refusal.New(refusal.Invalid, hint, "a secret needs the client that has it")
	case p.Scopes != nil && !slices.Contains(p.Scopes, "openid"):
		return refusal.New(refusal.Invalid, "add openid", "the scopes of a sign-in lack openid, without which the issuer says nothing of the person")
	case strings.ContainsAny(p.Domain, "@ /"):
		return refusal.New(refusal.Invalid, "use a domain, such as example.org", "%.200q is not the domain of an address", p.Domain)
	}
	for _, r := range p.Roles {
		if r.Group == "" {
			return refusal.New(refusal.Invalid, "write GROUP=ROLE", "a rule names no group")
		}
		if err := r.check("use admin, operator or auditor"); err != nil {
			return err
		}
	}
	return nil
}

// roleOf returns the first rule whose group the claims have.
func (p People) roleOf(c claims) (Rule, bool) {
	groups := c.list(p.Groups)
	i := slices.IndexFunc(p.Roles, func(r Rule) bool { return slices.Contains(groups, r.Group) })
	if i < 0 {
		return Rule{}, false
	}
	return p.Roles[i], true
}

// nameOf returns the name of the person that the claims name.
func (p People) nameOf(c claims) (string, error) {
	said := c.text(p.Name)
	name := strings.ToLower(said)
	if p.Domain != "" { // anybody at the issuer could choose a name without a domain
		local, domain, _ := strings.Cut(name, "@")
		if domain != strings.ToLower(p.Domain) {
			return "", refused("use the account with an address of that domain", "the claim %s of the token is not an address of %s: %.80q", p.Name, p.Domain, said)
		}
		name = local
	}
	if p.Name == "email" && string(c["email_verified"]) != "true" {
		return "", refused("have the issuer verify the address", "the address %.200q is not verified (email_verified)", said)
	}
	// The lower case of a letter beyond ASCII, such as the Kelvin sign, can be one of ASCII: it would be another person's name.
	if strings.ContainsFunc(said, func(r rune) bool { return r > unicode.MaxASCII }) || event.CheckName("the person's name", name) != nil {
		return "", refused("choose a claim with a short name of a-z, 0-9, '-', '_' and '.' (--oidc-name), or the domain of addresses (--oidc-domain)",
			"the claim %s of the token is not the name of a person: %.80q", p.Name, said)
	}
	return name, nil
}
