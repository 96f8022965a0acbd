package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
)

// checkSegments refuses a flag --segments that names no directory, or that says nothing of what is verified.
func (o options) checkSegments(given, dir bool) error {
	switch {
	case !given:
		return nil
	case !dir:
		return shell.Usagef("--segments is for a data directory: a segment is verified by itself, with --keys")
	case o.fast:
		return shell.Usagef("--fast reads no segments: leave it out, or --segments")
	}
	info, err := os.Stat(o.segments)
	if err != nil {
		return fileError(fmt.Errorf("--segments: %w", err))
	}
	if !info.IsDir() {
		return shell.Usagef("--segments: %s is no directory: name the one with the segments", o.segments)
	}
	return nil
}

// isSegment reports whether a file is a segment, perhaps a damaged one.
func isSegment(name string) bool {
	if strings.HasSuffix(name, ".segment") {
		return true
	}
	f, err := os.Open(name) //nolint:gosec // the path is the user's
	if err != nil {
		return false // what is wrong is said when it is read
	}
	defer f.Close()
	return segment.Is(f)
}

// segment verifies a segment by itself.
func (o options) segment(ctx context.Context, s *shell.Shell, name string) (err error) {
	keys, kept, err := o.read("")
	if err != nil {
		return err
	}
	f, err := os.Open(name) //nolint:gosec // the path is the user's
	if err != nil {
		return fileError(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, c, err := segment.Verify(ctx, f, keys)
	if err == nil {
		err = ctx.Err()
	}
	if isUnfinished(err) {
		return unfinished(err)
	}
	if errors.Is(err, segment.ErrFormat) || errors.Is(err, segment.ErrDiffers) {
		return shell.Hinted(fmt.Errorf("%s: %w", name, err), "replace it with a copy; entry segment-written of the record has its SHA-256")
	}
	if err != nil {
		return err
	}
	seen, err := o.cosigned([]byte(b.Checkpoint))
	if err != nil {
		return err
	}
	unchecked, err := o.unchecked(keys, []byte(b.Checkpoint))
	if err != nil {
		return err
	}
	end := proof.Checkpoint{Origin: c.Origin, Size: int64(b.Last), Root: b.Root} //nolint:gosec // a position
	for _, had := range kept {
		if had.Origin == c.Origin && had.Size != c.Size && had.Size != end.Size {
			return shell.Usagef("a checkpoint at position %d cannot be compared with a segment that ends at %d and has a checkpoint at %d: use trapeze verify DIR with --checkpoint", had.Size, end.Size, c.Size)
		}
	}
	sum, err := segment.SumOf(ctx, name)
	if err != nil {
		return fileError(err)
	}
	v := verification{findings: proof.CheckFork(append(kept, c, end))}
	answer := struct {
		Log      string              `json:"log"`
		First    uint64              `json:"first"`
		Last     uint64              `json:"last"`
		Root     proof.Hash          `json:"root"` // of the tree at Last
		Made     time.Time           `json:"made"`
		Size     int64               `json:"size"` // of its checkpoint
		SHA256   string              `json:"sha256"`
		Cosigned []proof.Cosignature `json:"cosigned,omitempty"`
		// Whose signatures are by keys that are not given.
		Unchecked []string `json:"unchecked,omitempty"`
	}{b.Log, uint64(b.First), uint64(b.Last), b.Root, b.Made, c.Size, sum, seen, unchecked}
	if err := s.Emit(answer, func(p *shell.Page) {
		p.Line("a segment with entries %d to %d of %s, with the root %s, made at %s", answer.First, answer.Last, b.Log, b.Root.String(), b.Made.Format(time.RFC3339))
		p.Line("signed by %s, with %d entries; the file has the SHA-256 %s", b.Log, c.Size, sum)
		showWitnesses(p, seen, unchecked)
	}); err != nil {
		return err
	}
	return v.result(s)
}

// attached verifies the segments that are there, and, if a directory of them was named, that none is missing of which entries were put away.
func (o options) attached(ctx context.Context, dir string, report proof.Report, v *verification) {
	if o.fast {
		return
	}
	dirs := []string{filepath.Join(dir, "segments")}
	if o.segments != "" {
		dirs = append(dirs, o.segments)
	}
	wrong, err := segment.Check(ctx, report.Written, dirs...)
	for _, what := range wrong {
		v.found("%s", what)
	}
	v.note("the segments", err)
	if o.segments == "" {
		return
	}
	for _, name := range report.Segments {
		v.found("the segment %s is missing: entries were put away in it, and it is neither in %s nor in the data directory", name, o.segments)
	}
}

// showAway says which entries were put away, and what was not compared, for that or for another reason.
func showAway(p *shell.Page, report proof.Report, v *verification) {
	if report.PutAway > 0 {
		p.Line("%d entries are put away in segments that are not there, and only their hashes were compared: %s", report.PutAway, strings.Join(report.Segments, ", "))
	}
	for _, why := range v.omitted {
		p.Line("Not compared: %s.", why)
	}
	if v.viewsAway {
		p.Line("The views were not compared with the record, nor the order of the events of tasks with the rules. To compare everything, name the directory with those segments: --segments DIR")
	}
}
