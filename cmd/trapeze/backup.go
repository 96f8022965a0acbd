package main

import (
	"context"
	"io"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/server"
)

func backup(ctx context.Context, dir string, to io.Writer, o cli.BackupOptions) (cli.Backup, error) {
	made, err := server.Backup(ctx, dir, to, server.BackupOptions{After: o.After, Secrets: o.Secrets, Rate: o.Rate, Progress: o.Progress, Record: placeOf(o.Record, nil)})
	return cli.Backup(made), err
}

func restore(ctx context.Context, dir, keys string, to cli.Place, from []io.Reader) (cli.Restored, error) {
	r, err := server.Restore(ctx, dir, keys, placeOf(to, nil), from)
	return cli.Restored(r), err
}
