package bench

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// attended is [shell.Interruptible], for what cleans up at its end: also a terminal that is closed ends ctx, unless nohup says that it does not matter.
func attended(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := shell.Interruptible(ctx)
	if signal.Ignored(syscall.SIGHUP) {
		return ctx, stop
	}
	ctx, end := signal.NotifyContext(ctx, syscall.SIGHUP)
	return ctx, func() { end(); stop() }
}
