package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// ContentFlags are the flags of the content that a sender puts into an envelope.
type ContentFlags struct {
	whole, data                 string
	ask, state, summary, notes  string
	facts, decisions, questions []string
	memory, artifacts, steps    []string
	expires                     string
	recent                      int
	confidence                  float64
	hasConfidence               func() bool
}

// Add defines the flags.
func (c *ContentFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&c.whole, "content", "", "whole content (JSON, @FILE or -); other flags add to it")
	f.StringVar(&c.ask, "ask", "", "what the receiver must accomplish (text, @FILE or -)")
	f.StringVar(&c.state, "state", "", "current state of the work (text, @FILE or -)")
	f.StringVar(&c.summary, "conversation-summary", "", "summary of the conversation so far (text, @FILE or -)")
	f.StringVar(&c.notes, "notes", "", "anything else for the receiver (text, @FILE or -)")
	f.StringArrayVar(&c.facts, "fact", nil, "fact, as TEXT or ID=TEXT; ID<OLD=TEXT replaces the fact OLD (repeatable)")
	f.StringArrayVar(&c.decisions, "decision", nil, "decision; IDs as with --fact (repeatable)")
	f.StringArrayVar(&c.questions, "question", nil, "open question, or none: all are answered; replaces the earlier questions (repeatable)")
	f.StringArrayVar(&c.steps, "step", nil, "something that you did; added to the history (repeatable)")
	f.StringVar(&c.expires, "expires", "", "when the context is stale: a duration such as 2h, or a time")
	f.StringVar(&c.data, "data", "", "task data (JSON, @FILE or -); replaces the earlier data")
	f.StringSliceVar(&c.memory, "memory", nil, "memory item to include, as ID or ID@VERSION (repeatable)")
	f.IntVar(&c.recent, "recent", 0, "number of recent memory items to include: those most relevant to the task, up to 50")
	f.StringArrayVar(&c.artifacts, "artifact", nil, "file to include: @FILE, or the digest of an uploaded artifact; DIGEST=NAME names it (repeatable)")
	f.Float64Var(&c.confidence, "confidence", 0, "your confidence in the work, 0 to 1")
	c.hasConfidence = func() bool { return f.Changed("confidence") }
}

// Read reads the content that the flags describe, and uploads its files.
func (c *ContentFlags) Read(ctx context.Context, s *Shell, to *client.Client) (client.Content, error) {
	content, err := c.Content(ctx, s)
	if err == nil {
		err = c.Attach(ctx, to, &content)
	}
	return content, err
}

// Content reads the content that the flags describe, without the files that Attach uploads.
func (c *ContentFlags) Content(ctx context.Context, s *Shell) (client.Content, error) {
	var out client.Content
	if err := s.Decode("--content", c.whole, &out); err != nil {
		return out, err
	}
	for _, p := range []struct {
		arg string
		to  *string
	}{{c.ask, &out.Ask}, {c.state, &out.State}, {c.summary, &out.Summary}, {c.notes, &out.Notes}} {
		if p.arg == "" {
			continue
		}
		text, err := s.Text(p.arg)
		if err != nil {
			return out, err
		}
		*p.to = text
	}
	data, err := s.Document("--data", c.data)
	if err != nil {
		return out, err
	}
	if data != nil {
		out.Data = data
	}
	out.Facts = append(out.Facts, points(c.facts)...)
	out.Decisions = append(out.Decisions, points(c.decisions)...)
	for _, action := range c.steps {
		out.Steps = append(out.Steps, client.Step{Action: action})
	}
	if c.expires != "" {
		if out.ExpiresAt, err = s.Moment(ctx, "--expires", c.expires); err != nil {
			return out, err
		}
	}
	if c.questions != nil {
		out.Questions = c.questions
		if len(c.questions) == 1 && isNone(c.questions[0]) {
			out.Questions = []string{}
		}
	}
	asks, err := memoryAsks(c.memory)
	if err != nil {
		return out, err
	}
	out.Memory = append(out.Memory, asks...)
	if c.recent != 0 {
		out.Recent = c.recent
	}
	for _, a := range c.artifacts {
		if _, isFile := strings.CutPrefix(a, "@"); isFile {
			continue
		}
		digest, name, _ := strings.Cut(a, "=")
		out.Artifacts = append(out.Artifacts, client.Artifact{Digest: digest, Name: name})
	}
	if c.hasConfidence() {
		out.Confidence = &c.confidence
	}
	return out, nil
}

// rePoint matches a point with an id, and with the id of what it supersedes. It is compiled by the commands that need it.
var rePoint = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^([A-Za-z0-9_.-]{1,64})(?:<([A-Za-z0-9_.-]{1,64}))?=(.*)$`)
})

func points(args []string) []client.Point {
	list := make([]client.Point, 0, len(args))
	for _, a := range args {
		p := client.Point{Text: a}
		if m := rePoint().FindStringSubmatch(a); m != nil {
			p = client.Point{ID: m[1], Supersedes: m[2], Text: m[3]}
		}
		list = append(list, p)
	}
	return list
}

// Attach uploads the files that the flags name, and adds them to the content.
func (c *ContentFlags) Attach(ctx context.Context, to *client.Client, content *client.Content) error {
	for _, a := range c.artifacts {
		name, isFile := strings.CutPrefix(a, "@")
		if !isFile {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return Usage(err)
		}
		info, err := to.PutArtifact(client.WithKey(ctx, ""), f, "") // --key is the key of the change that refers to it
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("--artifact %s: %w", a, err)
		}
		content.Artifacts = append(content.Artifacts, client.Artifact{Digest: info.Digest, Name: filepath.Base(name)})
	}
	return nil
}

func memoryAsks(args []string) ([]client.MemoryAsk, error) {
	var list []client.MemoryAsk
	for _, a := range args {
		id, version, versioned := strings.Cut(a, "@")
		ask := client.MemoryAsk{ID: id}
		if versioned {
			n, err := strconv.Atoi(version)
			if err != nil || n < 1 {
				return nil, Usagef("--memory %s: %q is not a version number", a, version)
			}
			ask.Version = n
		}
		list = append(list, ask)
	}
	return list, nil
}

// PackFlags defines the flags of how an envelope is packed for its receiver.
func PackFlags(f *pflag.FlagSet, p *client.Pack) {
	f.IntVar(&p.Tokens, "tokens", 0, "maximum size of the prompt in tokens (default: half of the receiver's context window, if it is set)")
	Choice(f, &p.Strategy, "strategy", "", "what to include if the content does not fit: %s (default priority)", client.Strategies())
	f.StringSliceVar(&p.Pinned, "pin", nil, "part to keep before all others: fact:ID, decision:ID, memory:ID, artifact:DIGEST, step:N, data or summary, that of the conversation (repeatable)")
}
