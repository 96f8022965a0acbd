package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

// grace is what calls that change something get to end when the server stops. They take milliseconds.
const grace = 500 * time.Millisecond

// healEvery is how often the views are looked at.
const healEvery = 5 * time.Second

// linger is how long connections in use have to bring the call that is on its way, when the server stops.
const linger = 250 * time.Millisecond

// Server is a running server on one data directory.
type Server struct {
	UseCases *usecase.UseCases

	config   Config
	log      *sqlitelog.Log
	views    *sqlview.Views
	store    *filestore.Store
	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc // of what runs in the background, and of long polls
	running  sync.WaitGroup
	failed   chan error
	leaving  atomic.Bool
	resource httpapi.Resource
}

// Open starts a server: record, views, artifacts, use cases, policies, courier, API, in this order. It returns when calls are answered.
func Open(ctx context.Context, c Config) (_ *Server, err error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Server{config: c, failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(ctx))
		}
	}()
	if err := s.openRecord(ctx); err != nil {
		return nil, err
	}
	if s.store, err = openArtifacts(c); err != nil {
		return nil, err
	}
	options := usecase.Options{Now: c.Now, Artifacts: s.store, ArtifactOptions: artifacts.Options{Grace: c.Artifacts.Grace}, Policy: policies.Options{Read: c.readPolicy, Adviser: adviser}}
	if c.hasIssuer() {
		if options.Issuer, err = s.trust(); err != nil {
			return nil, err
		}
	}
	if s.UseCases, err = usecase.New(s.log, s.views.Store(), options); err != nil {
		return nil, err
	}
	if err := s.ensureAdmin(ctx); err != nil {
		return nil, err
	}
	if err := s.loadPolicies(ctx); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	return s, nil
}

// trust lets tokens of the configured issuer count, and tells clients of it. It asks the issuer nothing yet.
func (s *Server) trust() (*oauth.Verifier, error) {
	c := s.config.OAuth
	c.Now, c.Log = s.config.Now, s.config.Log
	v, err := oauth.New(c)
	if err != nil {
		return nil, err
	}
	s.resource = httpapi.Resource(v.Metadata())
	return v, nil
}

func (s *Server) openRecord(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	path := filepath.Join(s.config.DataDir, "trapeze.db")
	if s.log, s.views, err = sqlview.OpenEmbedded(ctx, path, sqlitelog.Options{}); err != nil {
		return err
	}
	return nil
}

func (s *Server) listen() (err error) {
	if s.listener, err = net.Listen("tcp", s.config.Addr); err != nil { //nolint:noctx // it lives as long as the server
		return fmt.Errorf("%w (is another server running there? use another address)", err)
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	sinks, err := s.config.sinks()
	if err != nil {
		return err
	}
	post := courier.New(s.UseCases.FollowUp, s.log, s.views.Store(), courier.Options{Now: s.config.Now, Log: s.config.Log, Sinks: sinks})
	s.running.Go(func() { post.Run(background) })
	s.running.Go(func() { s.heal(background) })
	s.running.Go(func() { sweep(background, s.UseCases.Artifacts, s.config.Artifacts.Every, s.config.Log) })
	s.http = &http.Server{
		Handler:           s.parting(s.apis()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       func(net.Listener) context.Context { return background },
	}
	s.running.Go(func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) && !s.leaving.Load() {
			s.failed <- err
		}
	})
	return nil
}

// apis returns the handler of the HTTP API and of MCP, which is built on it.
func (s *Server) apis() http.Handler {
	mcp := func(api http.Handler) http.Handler {
		return mcpapi.NewHandler(api, mcpapi.HandlerOptions{Options: mcpapi.Options{Version: s.config.Version}, Log: s.config.Log})
	}
	return httpapi.New(&s.UseCases.Surface, httpapi.Options{
		Version: s.config.Version, Log: s.config.Log, Hosts: s.config.Hosts, Resource: s.resource, Mounts: map[string]func(http.Handler) http.Handler{"/mcp": mcp},
	})
}

// heal brings the views back after a failure. Until then /readyz says that they cannot be trusted; entries go on.
func (s *Server) heal(ctx context.Context) {
	tick := time.NewTicker(healEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.views.Err(); err != nil {
			s.config.Log.Error("views are brought up to date", "because", err, "then", s.views.Heal(ctx))
		}
	}
}

// URL is where the server answers.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// AdminTokenFile is where the owner's token is.
func (s *Server) AdminTokenFile() string { return filepath.Join(s.config.DataDir, "admin.token") }

// ensureAdmin makes the owner's token, unless the file holds one that still counts.
func (s *Server) ensureAdmin(ctx context.Context) error {
	path := s.AdminTokenFile()
	if b, err := os.ReadFile(path); err == nil {
		if _, err := s.UseCases.Tokens.Authenticate(ctx, string(b)); err == nil {
			return os.Chmod(path, 0o600)
		}
	}
	text, err := s.UseCases.Tokens.Bootstrap(ctx, identity.DefaultWorkspace)
	if err != nil {
		return err
	}
	return writeFile(path, text)
}

// writeFile writes a file that is its owner's alone, whole or not at all.
func writeFile(path, text string) error {
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Close stops a server: the API first, which lets calls in progress end, then the courier, the artifacts, the views and
// the record.
func (s *Server) Close(ctx context.Context) error {
	var errs []error
	if s.stop != nil {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Drain)
		defer cancel()
		s.lastAnswers()
		time.AfterFunc(grace, s.stop) // long polls and event streams would wait for ever
		if err := s.http.Shutdown(drain); err != nil {
			errs = append(errs, s.http.Close())
		}
		s.stop()
		s.running.Wait()
	} else if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.views != nil {
		errs = append(errs, s.views.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	return errors.Join(errs...)
}

// lastAnswers takes no new connection, and ends each that is in use with its next answer. Only after a while does
// Shutdown close those that are idle: closing at once could cut one off on which a call is just arriving.
func (s *Server) lastAnswers() {
	s.leaving.Store(true)
	_ = s.listener.Close() // Shutdown closes it again and says what there is to say
	<-time.After(linger)
}

// parting tells clients, while the server stops, that an answer is the last on its connection.
func (s *Server) parting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Tune sets the process's garbage collector for a server: nearly all that a call needs is garbage once it has been
// answered, and the rest is small, so collecting half as often costs some tens of megabytes.
func Tune() { debug.SetGCPercent(200) }

// Run opens a server, calls ready, and runs it until ctx ends or the API fails.
func Run(ctx context.Context, c Config, ready func(*Server)) error {
	Tune()
	s, err := Open(ctx, c)
	if err != nil {
		return err
	}
	if ready != nil {
		ready(s)
	}
	hangups, stop := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		s.obeyHangups(hangups)
	}()
	defer func() { <-heard }()
	defer stop()
	select {
	case <-ctx.Done():
		s.config.Log.Info("stopping")
		return s.Close(ctx)
	case err := <-s.failed:
		return errors.Join(err, s.Close(ctx))
	}
}
