package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/advice"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/session"
	"github.com/trapezehq/trapeze/internal/cli/suggest"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// URL is the server's address: --url, TRAPEZE_URL, that of the server which runs on the data directory, or the default address.
//
// Of several it is the first.
func (s *Shell) URL() string {
	first, _, _ := strings.Cut(s.URLs(), ",")
	return first
}

// URLs is the address, or several with commas between, of servers that share a record.
func (s *Shell) URLs() string {
	addr := s.namedURL()
	if addr == "" {
		return cmp.Or(s.serving(), s.UsualURL, DefaultURL)
	}
	var list []string
	for one := range strings.SplitSeq(addr, ",") {
		list = append(list, withScheme(strings.TrimSpace(one)))
	}
	return strings.Join(list, ",")
}

// namedURL is the address that the user gave; empty if there is none.
func (s *Shell) namedURL() string { return cmp.Or(s.Flags.URL, s.Getenv("TRAPEZE_URL")) }

// serving is the address of the server that runs on the data directory; empty if there is none.
func (s *Shell) serving() string {
	dir, err := s.DataDir()
	if err != nil {
		return ""
	}
	at, _, _ := daemon.Serving(dir)
	return at
}

// withScheme completes an address like localhost:8727: with http on this machine, and otherwise with https. A port alone, 8727 or :8727, is one
// of this machine.
func withScheme(addr string) string {
	if strings.Contains(addr, "://") {
		return addr
	}
	if port := strings.TrimPrefix(addr, ":"); port != "" && strings.Trim(port, "0123456789") == "" {
		return "http://127.0.0.1:" + port
	}
	host := addr
	if h, _, err := net.SplitHostPort(addr); err == nil {
		host = h
	}
	if onLoopback(strings.Trim(host, "[]")) {
		return "http://" + addr
	}
	return "https://" + addr
}

func onLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// elsewhere is the refusal if the user named another server than that of the data directory: the owner's token is for that one, and no other program
// may learn it, on this machine or another. It is nil otherwise, and for addresses on this machine while none runs there.
func (s *Shell) elsewhere() error {
	own := s.serving()
	dir, err := s.DataDir()
	if err != nil {
		return err
	}
	urls := strings.Split(s.URLs(), ",")
	ours := own == "" || slices.ContainsFunc(urls, func(one string) bool { return portOf(one) == portOf(own) }) // those beside it share its record
	malformed := func(one string) bool {
		u, err := url.Parse(one)
		return err != nil || u.Scheme != "http" && u.Scheme != "https"
	}
	if slices.ContainsFunc(urls, malformed) {
		return nil // the client refuses it
	}
	for _, one := range urls {
		if u, _ := url.Parse(one); one != own && (!onLoopback(u.Hostname()) || !ours) {
			return refusal.New(refusal.Unauthenticated, "if it runs on this machine, name its data directory with --data-dir; otherwise set TRAPEZE_TOKEN to a token of it, or sign in with: trapeze login. Without --url and TRAPEZE_URL, "+
				"commands use the server of this machine", "there is no token for %s: that of the data directory %s is for the server that runs on it alone", u.Host, dir)
		}
	}
	return nil
}

func portOf(addr string) string {
	u, err := url.Parse(addr)
	if err != nil {
		return ""
	}
	return u.Port()
}

// noServer is the refusal if the user named no server, and none runs on the data directory; nil otherwise.
func (s *Shell) noServer() error {
	if s.namedURL() != "" || s.serving() != "" {
		return nil
	}
	dir, err := s.DataDir()
	if err != nil {
		return err
	}
	return refusal.New(refusal.Unavailable, "start one with: trapeze serve. For a server on another machine, set TRAPEZE_URL and TRAPEZE_TOKEN",
		"no server runs here, on the data directory %s", dir)
}

// Dial makes a client that acts as the agent of --agent or TRAPEZE_AGENT, or with the caller's token: see Credential.
func (s *Shell) Dial(ctx context.Context) (*client.Client, error) {
	token, err := s.Credential(ctx)
	if err != nil {
		return nil, err
	}
	return s.DialWith(token)
}

// DialAsCaller makes a client for operations that agents may not do: it uses the caller's token, or the owner's. If there is
// neither, it does what Dial does.
func (s *Shell) DialAsCaller(ctx context.Context) (*client.Client, error) {
	token, err := s.base(ctx)
	if isRefusal(err) { // no owner's token on this machine; there may be one of the agent
		token, err = s.Credential(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.DialWith(token)
}

// Register registers an agent if it does not exist, or always if again is true, and makes a client that acts as it. From then on
// Dial acts as that agent. It is new if it did not exist, and the caller did not ask for it with again.
func (s *Shell) Register(ctx context.Context, agent string, spec client.AgentSpec, again bool) (c *client.Client, isNew bool, err error) {
	if c, err = s.DialAsCaller(ctx); err != nil {
		return nil, false, err
	}
	if !again {
		_, err = c.Agent(ctx, agent)
		isNew = errors.Is(err, client.NotFound)
	}
	if again || isNew {
		if _, err := s.keptMe(ctx, agent); err != nil {
			return nil, false, err
		}
		_, err = c.RegisterAgent(ctx, agent, spec)
	}
	if err != nil {
		return nil, false, err
	}
	s.Flags.Agent = agent
	c, err = s.Dial(ctx)
	return c, isNew, err
}

// NewAgentMessage tells people that a program registered its agent, and how to undo that.
func NewAgentMessage(ctx context.Context, c *client.Client, program, agent string) string {
	return "agent " + agent + " did not exist, and was registered. " + cmp.Or(SimilarAgents(ctx, c, program, agent), "To remove it: "+shellword.Command("trapeze agent remove", agent))
}

// SimilarAgents asks people whether they meant another agent than the one that a program registered; empty if no name is similar.
func SimilarAgents(ctx context.Context, c *client.Client, program, agent string) string {
	list, _ := c.Agents(ctx) // without it, nothing is suggested
	var names []string
	for _, a := range list.Agents {
		names = append(names, a.Name)
	}
	near := suggest.Names(agent, names)
	if len(near) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(near, " or ") + "? Then run " + program + " with --agent " + shellword.Quote(near[0]) + ", and remove " + agent + ": " + shellword.Command("trapeze agent remove", agent)
}

// keptMe is whom the kept token of an agent is for; nobody: none is kept. It refuses a token of an agent that the server knows no more, as after the
// agent was removed: before another agent is registered under its name, as which the caller could not act.
func (s *Shell) keptMe(ctx context.Context, agent string) (me client.Me, err error) {
	path, err := s.agentTokenFile(agent)
	if err != nil {
		return me, Usage(err)
	}
	token, err := readToken(path)
	if err != nil || token == "" {
		return me, err
	}
	c, err := s.DialWith(token)
	if err != nil {
		return me, err
	}
	if me, err = c.Me(ctx); errors.Is(err, client.Unauthenticated) {
		s.kept = path
	}
	return me, err
}

// RenewAgent replaces the kept token of an agent that the server does not accept any more, as after the agent was removed, with one for the agent
// of that name that is registered now. A caller who may make no tokens leaves it.
func (s *Shell) RenewAgent(ctx context.Context, agent string) {
	if _, err := s.keptMe(ctx, agent); errors.Is(err, client.Unauthenticated) {
		_, _ = s.newToken(ctx, agent, "", s.kept)
		s.kept = ""
	}
}

// Sessions are the sessions of people who signed in with trapeze login.
func (s *Shell) Sessions() (session.Store, error) {
	dir, err := s.DataDir()
	return session.Store{Dir: filepath.Join(dir, "sessions")}, err
}

// DialWith makes a client with a token.
func (s *Shell) DialWith(token string) (*client.Client, error) {
	trust, err := s.TLS()
	if err != nil {
		return nil, err
	}
	c, err := client.New(s.URLs(), token, client.Options{UserAgent: "trapeze/" + Version(), Watch: s.watch, TLS: trust})
	if err != nil {
		return nil, Usage(err)
	}
	return c, nil
}

// watch reports on standard error that the server of an event stream went away, or that it is back.
func (s *Shell) watch(away error) {
	if away == nil {
		fmt.Fprintln(s.Stderr, "trapeze: the server is back")
		return
	}
	text := away.Error()
	if r, ok := refused(away); ok {
		text = r.Message
	}
	fmt.Fprintln(s.Stderr, "trapeze: "+OneLine(text)+"; retrying")
}

// Credential returns the token to use: trapeze help files has the rules.
func (s *Shell) Credential(ctx context.Context) (string, error) {
	if agent := s.Chosen(); agent != "" {
		return s.agentToken(ctx, agent)
	}
	return s.base(ctx)
}

// base returns the token of --token or TRAPEZE_TOKEN, of the session of trapeze login, or the owner's.
func (s *Shell) base(ctx context.Context) (string, error) {
	if s.Flags.Token != "" {
		return s.Flags.Token, nil
	}
	if token := s.Getenv("TRAPEZE_TOKEN"); token != "" {
		return token, nil
	}
	if token, err := s.sessionToken(ctx); err != nil || token != "" {
		return token, err
	}
	token, path, err := s.adminToken()
	if err == nil { // the owner's token is for the server on the data directory, and for no other program at its usual address
		err = cmp.Or(s.noServer(), s.elsewhere())
	}
	if err == nil && token != "" && s.serving() == "" { // whatever listens there is another program
		err = refusal.New(refusal.Unavailable, cmp.Or(daemon.WaitsForNodes(filepath.Dir(path)), "start it with: trapeze serve. If another server is meant, name its data directory with --data-dir, or set TRAPEZE_TOKEN to a token of it"),
			"no server runs on the data directory %s, and its owner's token is for no other program at %s", filepath.Dir(path), s.URL())
	}
	if err == nil && token == "" {
		err = refusal.New(refusal.Unauthenticated,
			"start a server with trapeze serve; for a server on another machine set TRAPEZE_URL, and TRAPEZE_TOKEN or sign in with trapeze login", "there is no token: %s does not exist", path)
	}
	if err == nil {
		return token, nil
	}
	r, ok := refused(err)
	s.tokenless = ok && r.Code == refusal.Unauthenticated
	return "", s.orAgent(err)
}

// sessionToken returns the token of the person who signed in at the server; empty: nobody did.
func (s *Shell) sessionToken(ctx context.Context) (string, error) {
	store, err := s.Sessions()
	if err != nil {
		return "", err
	}
	token, err := store.Token(ctx, s.URL(), time.Now())
	if errors.Is(err, session.ErrOver) {
		return "", refusal.New(refusal.Unauthenticated, "sign in again with trapeze login, or sign out with trapeze logout", "%s", err)
	}
	return token, err
}

// agentToken returns the token of an agent: the caller's own if it is that agent's, the kept one, or a new one, which is kept.
func (s *Shell) agentToken(ctx context.Context, agent string) (string, error) {
	path, err := s.agentTokenFile(agent)
	if err != nil {
		return "", Usage(err)
	}
	if token, err := s.callerToken(ctx, agent); err != nil || token != "" {
		return token, err
	}
	if token, err := readToken(path); err != nil || token != "" {
		s.kept = path
		return token, err
	}
	return s.newToken(ctx, agent, "", path)
}

// newToken creates a token of an agent with the owner's token, and keeps it. A person, if not empty, is the one at the agent's client.
func (s *Shell) newToken(ctx context.Context, agent, person, path string) (string, error) {
	base, err := s.base(ctx)
	if err != nil {
		return "", err
	}
	c, err := s.DialWith(base)
	if err != nil {
		return "", err
	}
	t, err := c.CreateToken(client.WithKey(ctx, ""), client.TokenInput{
		Role: client.RoleAgent, Name: agent, Person: person, Label: "created by the command line" + session.OnHost(),
	})
	if err != nil {
		return "", err
	}
	if err := keepToken(path, t.Text); err != nil {
		return "", fmt.Errorf("keep the token of %s: %w", agent, err)
	}
	return t.Text, nil
}

// SetPerson makes the agent's kept token name the person at its client, who answers questions there. If the token names nobody, or
// another person, it is replaced. The replaced token, whose id is returned, stays valid: a program that runs may use it.
func (s *Shell) SetPerson(ctx context.Context, agent, person string) (replaced string, err error) {
	path, err := s.agentTokenFile(agent)
	if err != nil {
		return "", Usage(err)
	}
	me, err := s.keptMe(ctx, agent)
	if err != nil && !errors.Is(err, client.Unauthenticated) { // a token that is not valid any more is replaced
		return "", err
	}
	if s.kept = ""; err == nil && me.Person == person {
		return "", nil
	}
	_, err = s.newToken(ctx, agent, person, path)
	return me.Token, err
}

// callerToken returns the token of --token or TRAPEZE_TOKEN if it is the agent's own. It is empty if there is none, or if it is an
// admin's, who may act as any agent. Any other token is refused: it must not be replaced silently.
func (s *Shell) callerToken(ctx context.Context, agent string) (string, error) {
	given, how := s.Flags.Token, "--token"
	if given == "" {
		given, how = s.Getenv("TRAPEZE_TOKEN"), "TRAPEZE_TOKEN"
	}
	if given == "" {
		return "", nil
	}
	c, err := s.DialWith(given)
	if err != nil {
		return "", err
	}
	me, err := c.Me(ctx)
	switch {
	case err != nil:
		return "", err
	case me.Is(agent):
		return given, nil
	case me.Role == client.RoleAdmin:
		return "", nil
	}
	return "", hinted{
		Usagef("%s is the token of %s/%s, which cannot act as the agent %s", how, me.Role, me.Name, agent),
		"omit the token or the agent; operators and auditors read an agent's inbox with: trapeze inbox --of " + shellword.Quote(agent),
	}
}

// refused returns the refusal in an error, of the server or of this program.
func refused(err error) (*refusal.Error, bool) {
	if r, ok := refusal.As(err); ok {
		return r, true
	}
	var away *url.Error
	if errors.As(err, &away) && !errors.Is(err, context.Canceled) {
		return refusal.New(refusal.Unavailable, "check that it is running; start one with trapeze serve, or set another address with --url or TRAPEZE_URL",
			"the server cannot be reached: %s", away.Err), true
	}
	var r *client.Error
	if !errors.As(err, &r) {
		return nil, false
	}
	return &refusal.Error{Code: refusal.Code(r.Code), Message: r.Message, Hint: r.Hint, Helps: advice.Helps(r.Helps), Details: r.Details}, true
}
