package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/routing/openai"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

// policyFile returns the path of the policy of a workspace. The name of a workspace is safe in file names.
func (c Config) policyFile(workspace string) string {
	path := c.Policy
	if path == "" {
		path = filepath.Join(c.DataDir, "policy.yaml")
	}
	if workspace == identity.DefaultWorkspace {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "." + workspace + ext
}

// readPolicy reads the policy file of a workspace. A configured file must exist.
func (c Config) readPolicy(workspace string) (policies.File, error) {
	path := c.policyFile(workspace)
	out := policies.File{Name: filepath.Base(path)}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // reading a pipe would never end
		return out, refusal.New(refusal.Invalid, "put a regular file there", "%s is not a regular file", out.Name)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && (c.Policy == "" || workspace != identity.DefaultWorkspace) {
		out.None = true
		return out, nil
	}
	if err != nil {
		return out, plain(err)
	}
	defer f.Close()
	out.Text, err = io.ReadAll(io.LimitReader(f, policy.MaxFile+1))
	return out, plain(err)
}

// plain returns an error without the path, which remote callers must not see.
func plain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// workspaces returns all workspaces that may have a policy.
func (s *Server) workspaces(ctx context.Context) ([]string, error) {
	list, err := s.views.Workspaces(ctx)
	if !slices.Contains(list, identity.DefaultWorkspace) {
		list = append(list, identity.DefaultWorkspace)
	}
	return list, err
}

// loadPolicies brings the policy files into force at the start. An invalid one is logged as an error if a policy is already in
// force; otherwise the server does not start.
func (s *Server) loadPolicies(ctx context.Context) error {
	all, err := s.workspaces(ctx)
	if err != nil {
		return err
	}
	for _, workspace := range all {
		missing, err := s.UseCases.Policies.Load(ctx, workspace)
		for _, m := range missing {
			s.config.Log.Warn("the policy names what does not exist yet", "workspace", workspace, "problem", m.String())
		}
		if err == nil {
			continue
		}
		there, lookErr := s.UseCases.Policies.InForce(ctx, workspace)
		if lookErr != nil || !there {
			return errors.Join(fmt.Errorf("the policy of workspace %s: %w", workspace, err), lookErr)
		}
		s.config.Log.Error("THE POLICY FILE IS NOT IN FORCE; the last good policy stays in force", "workspace", workspace, "because", err)
	}
	return nil
}

// reloadPolicies brings the current policy files into force. An invalid one changes nothing.
func (s *Server) reloadPolicies(ctx context.Context) {
	all, err := s.workspaces(ctx)
	if err != nil {
		s.config.Log.Error("policies are not reloaded", "because", err)
	}
	for _, workspace := range all {
		p, err := s.UseCases.Policies.Reload(ctx, caller.System(workspace, "server"))
		switch {
		case refusal.CodeOf(err) == refusal.NotFound: // the workspace has no file
		case err != nil:
			s.config.Log.Error("the policy file is not in force; the last good policy stays in force", "workspace", workspace, "because", err)
		default:
			s.config.Log.Info("policy in force", "workspace", workspace, "version", p.Version, "digest", p.Digest)
		}
	}
}

// reloadOnHangup reloads the policies whenever the process receives a SIGHUP, until ctx ends.
func (s *Server) reloadOnHangup(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			s.reloadPolicies(ctx)
		}
	}
}

// maxKey is the greatest size of a key file, in bytes.
const maxKey = 4 << 10

// adviser returns the adviser that is asked if no rule of a policy matches. The key is in the environment variable that the
// policy names, or in the file that the variable of that name with _FILE names.
func adviser(l policy.LLM) (routing.Adviser, error) {
	key, err := secret(l.APIKeyEnv)
	if err != nil {
		return nil, err
	}
	return openai.New(openai.Options{
		Endpoint: l.Endpoint, Model: l.Model, Key: key, Timeout: time.Duration(l.Timeout), MaxTokens: l.MaxTokens, Retries: l.Retries,
		PerHour: l.PerHour, TokensPerHour: l.TokensPerHour, Share: l.Share,
	})
}

// embedder returns the embedder that a policy names, with its key as that of [adviser], or its program in the environment
// variable that the policy names.
func embedder(e policy.Embeddings) (routing.Embedder, error) {
	o := openai.EmbedOptions{Endpoint: e.Endpoint, Model: e.Model, Timeout: time.Duration(e.Timeout), Least: e.MinSimilarity}
	if e.CommandEnv != "" {
		if o.Command = strings.Fields(os.Getenv(e.CommandEnv)); len(o.Command) == 0 {
			const hint = "set it to the path of the program and its arguments, and restart the server"
			return nil, refusal.New(refusal.Unavailable, hint, "the server has no environment variable %s with the program of the model", e.CommandEnv)
		}
		return openai.NewEmbedder(o)
	}
	var err error
	if o.Key, err = secret(e.APIKeyEnv); err != nil {
		return nil, err
	}
	return openai.NewEmbedder(o)
}

// reportEmbedder logs the first failure of an embedder in a row, and its end.
func (c Config) reportEmbedder(workspace string, err error) {
	if err != nil {
		c.Log.Warn("the embeddings of memory items fail; searches go by words alone", "workspace", workspace, "because", err)
		return
	}
	c.Log.Info("the embeddings of memory items work again", "workspace", workspace)
}

// vectorsEvery is the interval at which new memory items get their vectors.
const vectorsEvery = time.Second

// addVectors gives memory items vectors in the workspaces whose policies name an embedder, until ctx ends. Failures are reported
// by the use case.
func (s *Server) addVectors(ctx context.Context) {
	for range ticks(ctx, vectorsEvery) {
		all, err := s.workspaces(ctx)
		if err != nil {
			continue // the repair of the views says why
		}
		for _, workspace := range all {
			_ = s.UseCases.Memories.AddVectors(ctx, workspace)
		}
	}
}

func secret(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if key := os.Getenv(name); key != "" {
		return strings.TrimSpace(key), nil
	}
	const hint = "set it in the environment of the server, and restart the server"
	path := os.Getenv(name + "_FILE")
	if path == "" {
		return "", refusal.New(refusal.Unavailable, hint, "the server has no environment variable %s with the key of the model", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", refusal.New(refusal.Unavailable, hint, "the file that %s_FILE names cannot be read: %s", name, plain(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if key := strings.TrimSpace(string(b)); err == nil && key != "" && len(b) <= maxKey {
		return key, nil
	}
	return "", refusal.New(refusal.Unavailable, hint, "the file that %s_FILE names contains no key", name)
}
