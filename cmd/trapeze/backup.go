package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/server"
)

func backup(ctx context.Context, dir string, to io.Writer, o cli.BackupOptions) (cli.Backup, error) {
	made, err := server.Backup(ctx, dir, to, server.BackupOptions{After: o.After, Secrets: o.Secrets, Rate: o.Rate, Progress: o.Progress, Record: placeOf(o.Record, nil, toUse)})
	return cli.Backup(made), err
}

func restore(ctx context.Context, dir, keys string, to cli.Place, from []io.Reader) (cli.Restored, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	r, err := server.Restore(ctx, dir, keys, placeOf(to, log, toFill), from)
	return cli.Restored(r), err
}

func putAway(ctx context.Context, dir string, before time.Time) (cli.Segment, error) {
	made, err := server.PutAway(ctx, dir, before)
	return cli.Segment(made), err
}
