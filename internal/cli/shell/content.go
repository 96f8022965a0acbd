package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// ContentFlags are the flags of what a sender puts into an envelope.
type ContentFlags struct {
	whole, data                 string
	ask, state, summary, notes  string
	facts, decisions, questions []string
	memory, artifacts           []string
	recent                      int
	confidence                  float64
	hasConfidence               func() bool
}

// Add defines the flags.
func (c *ContentFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&c.whole, "content", "", "the whole content as JSON, @FILE or -; the other flags go on top")
	f.StringVar(&c.ask, "ask", "", "what the receiver must accomplish (text, @FILE or -)")
	f.StringVar(&c.state, "state", "", "where the work stands now (text, @FILE or -)")
	f.StringVar(&c.summary, "summary", "", "the conversation so far, condensed (text, @FILE or -)")
	f.StringVar(&c.notes, "notes", "", "anything else for the receiver (text, @FILE or -)")
	f.StringArrayVar(&c.facts, "fact", nil, "something that is known; ID=TEXT gives it an id, ID<OLD=TEXT replaces another (repeatable)")
	f.StringArrayVar(&c.decisions, "decision", nil, "something that was decided; ids as with --fact (repeatable)")
	f.StringArrayVar(&c.questions, "question", nil, "something that is open; replaces the questions before (repeatable)")
	f.StringVar(&c.data, "data", "", "task data as JSON, @FILE or -; replaces the data before")
	f.StringSliceVar(&c.memory, "memory", nil, "id of a memory item that goes along; ID@VERSION for one of its versions (repeatable)")
	f.IntVar(&c.recent, "recent", 0, "so many recent memory items go along, too: those that fit the task best, up to 50")
	f.StringArrayVar(&c.artifacts, "artifact", nil, "a file that goes along: @FILE, or the digest of an artifact that was put; DIGEST=NAME gives it a name (repeatable)")
	f.Float64Var(&c.confidence, "confidence", 0, "how sure you are of the work, 0 to 1")
	c.hasConfidence = func() bool { return f.Changed("confidence") }
}

// Dial reads what the flags stand for into a content, connects, and puts the files among it.
func (c *ContentFlags) Dial(ctx context.Context, s *Shell, content *client.Content) (to *client.Client, err error) {
	if *content, err = c.Content(s); err != nil {
		return nil, err
	}
	if to, err = s.Dial(ctx); err != nil {
		return nil, err
	}
	return to, c.Attach(ctx, to, content)
}

// Content reads what the flags stand for, but for files: see Attach.
func (c *ContentFlags) Content(s *Shell) (client.Content, error) {
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
	if c.questions != nil {
		out.Questions = c.questions
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

var rePoint = regexp.MustCompile(`(?s)^([A-Za-z0-9_.-]{1,64})(?:<([A-Za-z0-9_.-]{1,64}))?=(.*)$`)

func points(args []string) []client.Point {
	list := make([]client.Point, 0, len(args))
	for _, a := range args {
		p := client.Point{Text: a}
		if m := rePoint.FindStringSubmatch(a); m != nil {
			p = client.Point{ID: m[1], Supersedes: m[2], Text: m[3]}
		}
		list = append(list, p)
	}
	return list
}

// Attach puts the files that the flags name, and has the content refer to them.
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
		info, err := to.PutArtifact(client.WithKey(ctx, ""), f, "") // the key is that of what refers to it
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
				return nil, Usagef("--memory %s: %q is not the number of a version", a, version)
			}
			ask.Version = n
		}
		list = append(list, ask)
	}
	return list, nil
}

// PackFlags defines how an envelope is packed for its receivers.
func PackFlags(f *pflag.FlagSet, p *client.Pack) {
	f.IntVar(&p.Tokens, "tokens", 0, "the most that the prompt may have (default: half of the receiver's context window, where that is known)")
	f.StringVar(&p.Strategy, "strategy", "", "full, summary_refs, priority or lazy: what goes first when that is short (default priority)")
	f.StringSliceVar(&p.Pinned, "pin", nil, "what stays before all else: fact:ID, decision:ID, memory:ID, artifact:DIGEST, step:N, data or summary (repeatable)")
}
