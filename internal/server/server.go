package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/api/multiplex"
	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/api/webpage"
	"github.com/trapezehq/trapeze/internal/delivery/alerting"
	"github.com/trapezehq/trapeze/internal/delivery/cosigner"
	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/server/certificate"
	"github.com/trapezehq/trapeze/internal/server/cluster"
	"github.com/trapezehq/trapeze/internal/server/garbage"
	"github.com/trapezehq/trapeze/internal/server/putaway"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

// healEvery is the interval of checks of the views.
const healEvery = 5 * time.Second

// reserve is the space, in bytes, that is kept on the disk for the records of reads.
const reserve = 16 << 20

// Server is a running server on one data directory.
type Server struct {
	UseCases *usecase.UseCases

	config    Config
	tree      *treefile.Store
	cosigner  *cosigner.Cosigner
	sealer    *seal.Sealer // nil: the content is not sealed
	log       ledger.Ledger
	embedded  *sqlitelog.Log // log, if that is in the data directory; nil otherwise
	shared    *shared        // if the record is shared with other servers; nil otherwise
	views     *sqlview.Views
	store     artifact.Store
	listener  net.Listener
	http      *http.Server
	stop      context.CancelFunc // ends background work and event streams
	gate      *cluster.Gate      // closed: no call waits
	cluster   *cluster.Cluster
	courier   *courier.Courier
	alerting  *alerting.Alerting
	running   sync.WaitGroup
	hijacked  sync.WaitGroup // connections with many calls
	advancing sync.Mutex     // one call moves the clock at a time, and nothing else judges alerts
	failed    chan error
	leaving   atomic.Bool
	calls     atomic.Int64 // in progress, event streams included
	resource  httpapi.Resource
	signIn    webpage.Issuer // nil: people do not sign in at an issuer
	monitor   *monitor.Monitor
	counts    *counts
	// certificate is that of TLS; nil: there is none.
	certificate *certificate.Store
	owner       io.Closer // of temporary data in memory
	workers     *stream.Workers
}

// Open starts a server: record, views, artifacts, use cases, policies, courier, API, in this order. When it returns, the server
// accepts calls.
func Open(ctx context.Context, c Config) (_ *Server, err error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Server{config: c, failed: make(chan error, 1), counts: newCounts(), gate: cluster.NewGate(), workers: stream.NewWorkers()}
	if c.Temporary {
		if c.DataDir, s.owner, err = makeTemporary(); err != nil {
			return nil, err
		}
		s.config = c
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(ctx))
		}
	}()
	if err := s.openCertificate(); err != nil {
		return nil, err
	}
	if err := s.openRecord(ctx); err != nil {
		return nil, err
	}
	if s.store, err = s.openArtifacts(ctx); err != nil {
		return nil, err
	}
	if err := s.openCosigner(); err != nil {
		return nil, err
	}
	s.monitor = monitor.New(s.log, s.views.Store(), monitor.Options{
		Now: c.Now, Log: c.Log, Figures: figure.Options{MaxAgents: c.FigureAgents}, Process: func(set *figure.Set) { s.counts.add(set, s.logSize()) }, Integrity: s.tree.Err, Witnessed: s.cosigner.Err, Certified: s.renewed,
	})
	options := usecase.Options{Decide: s.workers.Run, Figures: s.monitor, Integrity: s.tree.Err, Tree: s.tree, Now: c.Now, Artifacts: s.store, ArtifactOptions: artifacts.Options{Grace: c.Artifacts.Grace}, Policy: policies.Options{Read: c.readPolicy, Adviser: adviser, Embedder: embedder, Report: c.reportEmbedder}}
	options.Erasure.Rebuild, options.Erasure.Scrub = s.rebuild, s.scrub
	if s.shared != nil {
		options.Tree, options.Presence, options.Current = fixedKey{s.tree}, s.shared.presence, s.shared.current
	}
	if err := s.openCluster(); err != nil {
		return nil, err
	}
	options.Cluster = s.cluster
	if s.sealer != nil {
		options.Erasure.Keys = s.sealer
	}
	if c.hasIssuer() {
		if options.Issuer, err = s.verifier(); err != nil {
			return nil, err
		}
	}
	if s.UseCases, err = usecase.New(s.ledger(), s.views.Store(), options); err != nil {
		return nil, err
	}
	if s.shared != nil {
		s.shared.learner.Tell(s.UseCases.Learn)
	}
	if err := sharedrecord.WhenMajority(ctx, c.Log, func() error { return s.prepare(ctx) }); err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// prepare appends and reads what has to be in the record before the first call. It can be repeated.
func (s *Server) prepare(ctx context.Context) error {
	if err := errors.Join(s.UseCases.Erasures.Finish(ctx), s.recordRestore(ctx), s.ensureAdmin(ctx)); err != nil {
		return err
	}
	return s.loadPolicies(ctx)
}

// verifier returns the verifier for tokens of the configured issuer, and sets the metadata for clients. It does not call the
// issuer yet.
func (s *Server) verifier() (*oauth.Verifier, error) {
	c := s.config.OAuth
	c.Now, c.Log = s.config.Now, s.config.Log
	v, err := oauth.New(c)
	if err != nil {
		return nil, err
	}
	s.resource = httpapi.Resource(v.Metadata())
	if in := v.SignIn(); in != nil {
		s.signIn = in
	}
	return v, nil
}

func (s *Server) openRecord(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.config.DataDir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if s.config.Record.Kind() != sharedrecord.None {
		return s.openShared(ctx)
	}
	if err := sharedrecord.CheckOwn(s.config.DataDir, "", ", or use another directory with --data-dir"); err != nil {
		return err
	}
	path := filepath.Join(s.config.DataDir, recordfile.Database)
	room := int64(reserve)
	if s.config.Temporary {
		room = 0 // it would take memory
	}
	if s.tree, err = openTree(s.config, ""); err != nil {
		return err
	}
	if s.sealer, err = openSealer(s.config); err != nil {
		return err
	}
	o := sqlitelog.Options{Reserve: room, Committed: s.counts.committed, Acknowledged: s.tree.Acknowledged(), Sealer: s.ledgerSealer(), Segments: segment.NewDir(filepath.Join(s.config.DataDir, putaway.Dir))}
	if s.embedded, s.views, err = sqlview.OpenEmbedded(ctx, path, o); errors.Is(err, sqlitelog.ErrSealed) || errors.Is(err, seal.ErrMissing) {
		return keysLost(s.config.DataDir, err)
	} else if err != nil {
		return stream.AttachFirst(err)
	}
	s.log = s.embedded
	if err := s.checkKeys(ctx); err != nil {
		return err
	}
	if err := s.tree.Check(ctx, s.log); err != nil {
		return err
	}
	if s.config.RebuildViews {
		s.config.Log.Info("the views are built again from the ledger")
		return stream.AttachFirst(s.views.Rebuild(ctx))
	}
	return s.sayDetached(ctx)
}

func (s *Server) listen(ctx context.Context) (err error) {
	if s.listener, err = net.Listen("tcp", s.config.Addr); err != nil { //nolint:noctx // it lives as long as the server
		return fmt.Errorf("%w (is another server running there? use another address)", err)
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	sinks, err := s.config.sinks()
	if err != nil {
		return err
	}
	s.running.Go(func() { s.monitor.Run(background) })
	s.running.Go(func() { s.tree.Run(background, s.log) })
	s.running.Go(func() { s.resumeRotation(background) })
	s.running.Go(func() { s.alone(background, s.cosigner.Run) })
	s.exchange(background)
	key, err := s.pageKey(ctx)
	if err != nil {
		return err
	}
	scrape, err := s.scraper(background)
	if err != nil {
		return err
	}
	spans, err := s.tracer(background)
	if err != nil {
		return err
	}
	s.courier = courier.New(s.UseCases.FollowUp, s.log, s.viewStore(), courier.Options{Now: s.config.Now, Log: s.config.Log, Sinks: sinks, Alone: s.alone})
	s.running.Go(func() { s.courier.Run(background) })
	told, err := s.config.alertSinks()
	if err != nil {
		return err
	}
	s.alerting = alerting.New(s.UseCases.Alerts, s.monitor, s.log, s.viewStore(), alerting.Options{Log: s.config.Log, Sinks: told, Manual: s.config.Clock.stands(), Moving: &s.advancing, Alone: s.alone})
	s.running.Go(func() { s.alerting.Run(background) })
	full := s.reportSpace(false) // before anybody reads that the server is ready
	s.running.Go(func() { s.heal(background, full) })
	s.running.Go(func() { s.tend(background) })
	s.running.Go(func() { s.addVectors(background) })
	s.running.Go(func() { sweep(background, s.UseCases.Artifacts, s.config.Artifacts.Every, s.config.Log) })
	s.http = &http.Server{
		Handler:           s.closeConnections(s.apis(scrape, spans, key)),
		ConnState:         s.counts.connection,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       func(net.Listener) context.Context { return background },
	}
	s.serveCalls(background)
	return nil
}

// accept runs what accepts connections.
func (s *Server) accept(serve func() error) {
	s.running.Go(func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) && !s.leaving.Load() {
			s.failed <- err
		}
	})
}

// turn waits for the turn of a principal to have a message decoded: the same as that of its requests over HTTP.
func (s *Server) turn(ctx context.Context, workspace, role, name string, large bool) (leave func(), err error) {
	c := caller.Caller{Principal: identity.Principal{Workspace: workspace, Role: identity.Role(role), Name: name}}
	work, decoded := s.UseCases.Work, func() {}
	if large {
		if decoded, err = work.EnterBody(ctx, c); err != nil {
			return nil, err
		}
	}
	over, err := work.EnterCall(work.Call(ctx, c))
	if err != nil {
		decoded()
		return nil, err
	}
	return func() { over(); decoded() }, nil
}

// pageTurn waits for the turn of a principal to have a page made.
func (s *Server) pageTurn(ctx context.Context, workspace, role, name string) (leave func(), err error) {
	c := caller.Caller{Principal: identity.Principal{Workspace: workspace, Role: identity.Role(role), Name: name}}
	return s.UseCases.Work.EnterPage(ctx, c)
}

// apis returns the handler of the HTTP API, and of MCP and the page, which are built on it.
func (s *Server) apis(scrape func(workspace string) (http.Handler, error), spans tracing.Tracer, key [32]byte) http.Handler {
	mcp := func(api http.Handler) http.Handler {
		return mcpapi.NewHandler(api, mcpapi.HandlerOptions{Options: mcpapi.Options{Version: s.config.Version, Tracer: spans, Stopping: s.gate.Closed}, Log: s.config.Log, Turn: s.turn})
	}
	o := httpapi.Options{
		Version: s.config.Version, Log: s.config.Log, Hosts: s.config.Hosts, Resource: s.resource, Called: s.counts.called, Metrics: scrape, Tracer: spans,
		Stopping: s.gate.Closed, Drained: s.gate.Drained,
		Mounts: map[string]func(http.Handler) http.Handler{"/mcp": mcp, multiplex.Path: s.multiplexed},
	}
	var pages http.Handler // one, at all of its paths
	page := func(api http.Handler) http.Handler {
		if pages == nil {
			pages = webpage.New(api, webpage.Options{Key: key, Now: s.config.Now, Log: s.config.Log, Turn: s.pageTurn, Secure: s.config.BehindProxy, Issuer: s.signIn})
		}
		return pages
	}
	o.Pages = page
	for _, path := range webpage.Paths() {
		o.Mounts[path] = page
	}
	if s.config.Clock != nil {
		o.Advance = s.Advance
	}
	return httpapi.New(&s.UseCases.Surface, o)
}

// heal repairs the views after a failure. Until then /readyz reports them as not reliable; appends continue.
// It also logs that the disk has become full, if it was not full before, or that it no longer is.
func (s *Server) heal(ctx context.Context, full bool) {
	for range ticks(ctx, healEvery) {
		full = s.reportSpace(full)
		if err := s.views.Err(); err != nil && s.embedded != nil { // those that follow repair themselves
			s.config.Log.Error("repairing the views", "cause", err, "result", s.views.Heal(ctx))
		}
	}
}

// ticks yields at each interval until ctx ends.
func ticks(ctx context.Context, every time.Duration) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				if !yield(now) {
					return
				}
			}
		}
	}
}

// reportSpace logs that the disk has become full, or that it no longer is, and returns which.
func (s *Server) reportSpace(was bool) (full bool) {
	switch full = s.UseCases.Positions.ReadOnly(); {
	case full && !was:
		s.config.Log.Error("THE SERVER IS READ-ONLY: the disk is full. Free some space; reads go on, and writing continues by itself", "cause", s.log.Err())
	case was && !full && s.log.Err() == nil:
		s.config.Log.Info("there is space on the disk again: the server is no longer read-only")
	}
	return full
}

// AdminTokenFile returns the path of the file with the admin's token.
func (s *Server) AdminTokenFile() string {
	return filepath.Join(s.config.DataDir, recordfile.AdminToken)
}

// ensureAdmin creates the admin's token, unless the file has one that is valid.
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

// writeFile writes a file for its owner only, completely or not at all. It is on the disk when it returns.
func writeFile(path, text string) error {
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		return err
	}
	if err := durable.Sync(tmp); err != nil { // before it has its name: after a loss of power, a file with the name would be empty
		return err
	}
	return errors.Join(os.Rename(tmp, path), durable.Sync(filepath.Dir(path)))
}

// Close stops a server: the API first, which lets calls in progress end, then the courier, the artifacts, the views and
// the record.
func (s *Server) Close(ctx context.Context) error {
	var errs []error
	if s.stop != nil {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Drain)
		defer cancel()
		patience := grace
		if s.config.Temporary { // what is on its way is of no use to anybody; calls that wait are answered
			patience = grace / 5
			s.leaving.Store(true)
		} else {
			s.lastAnswers()
		}
		s.gate.Stop()
		go s.endStreams(drain, patience)
		switch {
		case s.http == nil: // it never listened
			errs = append(errs, s.listener.Close())
		case s.http.Shutdown(drain) != nil:
			errs = append(errs, s.http.Close())
		}
		s.hijacked.Wait() // Shutdown does not; endStreams ends them, too
		s.stop()
		s.running.Wait()
	} else if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.UseCases != nil {
		s.UseCases.Close()
	}
	s.workers.Close()
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.views != nil {
		errs = append(errs, s.views.Close())
	}
	switch {
	case s.shared != nil:
		errs = append(errs, s.shared.close(ctx))
	case s.log != nil:
		errs = append(errs, s.log.Close())
	}
	if s.sealer != nil {
		errs = append(errs, s.sealer.Close())
	}
	if s.tree != nil {
		errs = append(errs, s.tree.Close())
	}
	if s.config.Temporary {
		errs = append(errs, os.RemoveAll(s.config.DataDir))
	}
	if s.owner != nil {
		errs = append(errs, s.owner.Close())
	}
	return errors.Join(errs...)
}

// Run opens a server, calls ready, and runs it until ctx ends or the API fails.
func Run(ctx context.Context, c Config, ready func(*Server)) error {
	garbage.Tune()
	s, err := Open(ctx, c)
	if err != nil {
		return err
	}
	if ready != nil {
		ready(s)
	}
	hangups, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { s.reloadOnHangup(hangups) })
	beside.Go(func() { garbage.Keep(hangups, s.config.Memory) })
	defer beside.Wait()
	defer stop()
	select {
	case <-ctx.Done():
		s.config.Log.Info("stopping")
		return s.Close(ctx)
	case err := <-s.failed:
		return errors.Join(err, s.Close(ctx))
	}
}
