package shell

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// URL is the server's address: --url, TRAPEZE_URL, or where one is that was not told another.
func (s *Shell) URL() string {
	if s.Flags.URL != "" {
		return s.Flags.URL
	}
	if addr := s.Getenv("TRAPEZE_URL"); addr != "" {
		return addr
	}
	return DefaultURL
}

// Dial makes a client that speaks as who the command should act as.
func (s *Shell) Dial(ctx context.Context) (*client.Client, error) {
	token, err := s.Credential(ctx)
	if err != nil {
		return nil, err
	}
	return s.clientFor(token)
}

// DialAsGiven makes a client for what an agent may not do for itself: it speaks with the token that was given, or as the
// owner; without either, as Dial does.
func (s *Shell) DialAsGiven(ctx context.Context) (*client.Client, error) {
	token, err := s.base()
	if isRefusal(err) { // no owner's token here: the agent's own may be kept
		token, err = s.Credential(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.clientFor(token)
}

// Enrol makes a client that speaks as the agent, which is registered before if it is not there, or anew: with the agent's
// own token where that is the one at hand, or else with the owner's. From then on every command's client is that agent's.
func (s *Shell) Enrol(ctx context.Context, agent string, spec client.AgentSpec, anew bool) (*client.Client, error) {
	c, err := s.DialAsGiven(ctx)
	if err != nil {
		return nil, err
	}
	if !anew {
		_, err = c.Agent(ctx, agent)
	}
	if anew || errors.Is(err, client.NotFound) {
		_, err = c.RegisterAgent(ctx, agent, spec)
	}
	if err != nil {
		return nil, err
	}
	s.Flags.Agent = agent
	return s.Dial(ctx)
}

func (s *Shell) clientFor(token string) (*client.Client, error) {
	c, err := client.New(s.URL(), token, client.Options{UserAgent: "trapeze/" + Version(), Watch: s.watch})
	if err != nil {
		return nil, Usage(err)
	}
	return c, nil
}

// watch tells whoever follows events why nothing comes.
func (s *Shell) watch(away error) {
	if away == nil {
		fmt.Fprintln(s.Stderr, "trapeze: the server is back")
		return
	}
	text := away.Error()
	if r, ok := refused(away); ok {
		text = r.Message
	}
	fmt.Fprintln(s.Stderr, "trapeze: "+OneLine(text)+"; trying again")
}

// Credential picks the token: trapeze help files has the rules.
func (s *Shell) Credential(ctx context.Context) (string, error) {
	fromEnv, agentFromEnv := s.Getenv("TRAPEZE_TOKEN"), s.Getenv("TRAPEZE_AGENT")
	agent := s.Flags.Agent
	switch {
	case agent == "" && s.Flags.Token == "" && fromEnv == "":
		agent = agentFromEnv
	case agent == agentFromEnv && s.Flags.Token == "" && fromEnv != "":
		agent = "" // a worker's child: its token is that agent's
	}
	if agent == "" {
		return s.base()
	}
	return s.agentToken(ctx, agent)
}

// base is the token that was given, or the owner's.
func (s *Shell) base() (string, error) {
	if s.Flags.Token != "" {
		return s.Flags.Token, nil
	}
	if token := s.Getenv("TRAPEZE_TOKEN"); token != "" {
		return token, nil
	}
	token, path, err := s.adminToken()
	if err == nil && token == "" {
		err = refusal.New(refusal.Unauthenticated,
			"start a server with trapeze serve; for a server elsewhere set TRAPEZE_URL and TRAPEZE_TOKEN", "there is no token: %s does not exist", path)
	}
	return token, err
}

// agentToken is the token to act as an agent with: the kept one, or one that is made now and kept.
func (s *Shell) agentToken(ctx context.Context, agent string) (string, error) {
	path, err := s.agentTokenFile(agent)
	if err != nil {
		return "", Usage(err)
	}
	if token, err := s.givenFor(ctx, agent); err != nil || token != "" {
		return token, err
	}
	if token, err := readToken(path); err != nil || token != "" {
		s.kept = path
		return token, err
	}
	return s.newToken(ctx, agent, "", path)
}

// newToken makes a token of an agent with the owner's, for a client with a person before it if one is named, and keeps it.
func (s *Shell) newToken(ctx context.Context, agent, person, path string) (string, error) {
	base, err := s.base()
	if err != nil {
		return "", err
	}
	c, err := s.clientFor(base)
	if err != nil {
		return "", err
	}
	t, err := c.CreateToken(client.WithKey(ctx, ""), client.TokenInput{
		Role: client.RoleAgent, Name: agent, Person: person, Label: "made by the command line" + onHost(),
	})
	if err != nil {
		return "", err
	}
	if err := keepToken(path, t.Text); err != nil {
		return "", fmt.Errorf("keep the token of %s: %w", agent, err)
	}
	return t.Text, nil
}

// Attend has the agent's kept token name the person at its client, who answers there what people are asked. A token that names
// nobody, or somebody else, is replaced and revoked.
func (s *Shell) Attend(ctx context.Context, agent, person string) error {
	path, err := s.agentTokenFile(agent)
	if err != nil {
		return Usage(err)
	}
	old, err := s.agentToken(ctx, agent)
	if err != nil {
		return err
	}
	c, err := s.clientFor(old)
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if err != nil || me.Person == person {
		return err
	}
	if _, err := s.newToken(ctx, agent, person, path); err != nil {
		return err
	}
	owner, err := s.DialAsGiven(ctx)
	if err == nil {
		_, err = owner.RevokeToken(ctx, me.Token)
	}
	return err
}

// givenFor is the token that was given if it is the agent's own, and empty if none was given, or an owner's, who may act
// as any agent. Whoever else gave one is not made another without a word.
func (s *Shell) givenFor(ctx context.Context, agent string) (string, error) {
	given, how := s.Flags.Token, "--token"
	if given == "" {
		given, how = s.Getenv("TRAPEZE_TOKEN"), "TRAPEZE_TOKEN"
	}
	if given == "" {
		return "", nil
	}
	c, err := s.clientFor(given)
	if err != nil {
		return "", err
	}
	me, err := c.Me(ctx)
	switch {
	case err != nil:
		return "", err
	case me.Agent == agent:
		return given, nil
	case me.Role == client.RoleAdmin:
		return "", nil
	}
	return "", hinted{
		Usagef("%s is the token of %s/%s, who cannot act as the agent %s", how, me.Role, me.Name, agent),
		"leave one of the two out; operators and auditors look at an agent's inbox with: trapeze inbox --of " + agent,
	}
}

func onHost() string {
	if host, err := os.Hostname(); err == nil {
		return " on " + host
	}
	return ""
}

// refused is the refusal in an error, whether it comes from the server or from our own rules.
func refused(err error) (*refusal.Error, bool) {
	if r, ok := refusal.As(err); ok {
		return r, true
	}
	var away *url.Error
	if errors.As(err, &away) && !errors.Is(err, context.Canceled) {
		return refusal.New(refusal.Unavailable, "is it running there? start one with trapeze serve, or name another with --url or TRAPEZE_URL",
			"the server cannot be reached: %s", away.Err), true
	}
	var r *client.Error
	if !errors.As(err, &r) {
		return nil, false
	}
	return &refusal.Error{Code: refusal.Code(r.Code), Message: r.Message, Hint: r.Hint, Details: r.Details}, true
}
