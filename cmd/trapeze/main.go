// Trapeze is a handoff server for AI agents, and its command line.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/server"
)

func main() {
	runtime.MemProfileRate = 0 // nothing shows what the runtime would keep for it
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Serve: serve,
		OpenRecord: func(dir string, segments ...string) (cli.RecordFile, error) {
			return server.OpenRecord(dir, segments...)
		},
		Copier: cli.Copier{Backup: backup, Restore: restore, PutAway: putAway},
	}))
}

func serve(ctx context.Context, c cli.ServeConfig) error {
	log, err := logger(c)
	if err != nil {
		return err
	}
	conf := server.Config{DataDir: c.DataDir, Record: placeOf(c.Record, log, toUse), Addr: c.Addr, Hosts: c.Hosts, Policy: c.Policy, Version: c.Version, Log: log, Notify: c.Notify, Alerts: c.Alerts, Witnesses: c.Witnesses, Memory: c.Memory, FigureAgents: c.FigureAgents, RebuildViews: c.RebuildViews, Erasable: c.Erasable}
	if c.Ephemeral {
		conf.Temporary, conf.Clock = true, server.NewClock(time.Time{})
	}
	conf.TLS.Cert, conf.TLS.Key, conf.TLS.ClientCA, conf.BehindProxy = c.TLSCert, c.TLSKey, c.TLSClientCA, c.BehindProxy
	conf.Artifacts.MaxSize, conf.Artifacts.Quota.Bytes = c.MaxArtifact, c.ArtifactQuota
	conf.OAuth.Issuer, conf.OAuth.Resource, conf.OAuth.Claim, conf.OAuth.Person = c.OAuthIssuer, c.OAuthResource, c.OAuthClaim, c.OAuthPerson
	if conf.OAuth.People, err = server.People(server.PeopleText(c.SignIn)); err != nil {
		return err
	}
	return server.Run(ctx, conf, func(s *server.Server) { c.Ready(s.URL(), s.AdminTokenFile()) })
}

func logger(c cli.ServeConfig) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return nil, fmt.Errorf("log level %q: use debug, info, warn or error", c.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch c.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(c.LogTo, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.LogTo, options)), nil
	}
	return nil, fmt.Errorf("log format %q: use text or json", c.LogFormat)
}
