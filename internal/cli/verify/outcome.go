package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
	"github.com/trapezehq/trapeze/internal/record/proof/taskorder"
)

// verification is what a verification has found, and why it could not be finished.
type verification struct {
	findings   []proof.Finding
	unfinished error
	moved      bool     // a program has begun to write the record since it was opened
	viewsAway  bool     // the views and the order of events were not compared, since entries are put away
	omitted    []string // what was not compared for another reason, and why
	unchecked  []string // who signed the last cosigned checkpoint, or that of --checkpoint, with a key that is not given
	took       []part
}

// part is how long a part of a verification took.
type part struct {
	What      string  `json:"what"`
	Seconds   float64 `json:"seconds"`
	PerSecond int64   `json:"entries_per_second,omitempty"`
}

// timed adds a part that took so long, in which so many entries were compared; 0: none.
func (v *verification) timed(what string, took time.Duration, entries int64) {
	v.took = append(v.took, part{what, took.Round(time.Millisecond).Seconds(), int64(float64(entries) / max(took, time.Microsecond).Seconds())})
}

// showResult says what was shown, and what cannot be from the data directory alone.
func (o options) showResult(p *shell.Page, v *verification) {
	if len(v.findings) > 0 || v.unfinished != nil {
		return
	}
	p.Line("Everything that was compared verifies.")
	if len(o.checkpoints) == 0 {
		p.Line("Not shown: that the whole directory was not exchanged for an older or another one. Only a checkpoint that was kept elsewhere shows that: --checkpoint FILE --keys FILE")
	}
}

// showTook says how long each part took.
func showTook(p *shell.Page, parts []part) {
	for _, of := range parts {
		if of.PerSecond == 0 {
			p.Line("  %s: %.1f s", of.What, of.Seconds)
			continue
		}
		p.Line("  %s: %.1f s, %d a second", of.What, of.Seconds, of.PerSecond)
	}
}

// errDiffers is the error of a verification that found something.
var errDiffers = errors.New("it does not verify")

// isUnfinished reports whether an error, perhaps one that [unfinished] made, says nothing of what is verified.
func isUnfinished(err error) bool {
	return proof.IsUnfinished(err) || refusal.CodeOf(err) == refusal.Unavailable
}

// unfinished is the error of a verification that could not be finished.
func unfinished(err error) error {
	if refusal.CodeOf(err) == refusal.Unavailable {
		return err
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("it was interrupted")
	}
	return refusal.New(refusal.Unavailable, "run it as a user who may read everything in it, with space in the temporary directory (TMPDIR), or on a copy on another disk",
		"the verification could not be finished, which says nothing of what is verified: %v", err)
}

// fileError is the error of reading a file that the user named.
func fileError(err error) error {
	if isUnfinished(err) {
		return unfinished(err)
	}
	return shell.Usage(err)
}

func (v *verification) found(format string, args ...any) {
	v.findings = append(v.findings, proof.Finding{What: fmt.Sprintf(format, args...)})
}

// note takes an error of reading something: it is a finding, unless it says nothing of what is verified. It reports whether that is so.
func (v *verification) note(what string, err error) bool {
	switch {
	case err == nil:
	case isUnfinished(err):
		if v.unfinished == nil {
			v.unfinished = unfinished(fmt.Errorf("%s: %w", what, err))
		}
		return true
	default:
		v.found("%s cannot be read: %v", what, err)
	}
	return false
}

// before adds what was found earlier, and puts all in the order of the record: first what has no position.
func (v *verification) before(list []proof.Finding) {
	v.findings = append(list, v.findings...)
	slices.SortStableFunc(v.findings, func(a, b proof.Finding) int { return cmp.Compare(a.Position, b.Position) })
}

// result prints what was found, and returns an error if there is something, or if more may be there.
func (v *verification) result(s *shell.Shell) error {
	for _, f := range v.findings {
		s.Notef("%s", f)
	}
	if len(v.findings) == 0 {
		return v.unfinished
	}
	if v.unfinished != nil {
		s.Notef("%v", v.unfinished)
	}
	return shell.Hinted(errDiffers, "keep the files as they are; restore the data directory from a backup that verifies")
}

// open opens the record in a data directory; nil if there is none, which is a finding, or if that cannot be told. Errors: of how the command was used, and those of a
// record that cannot be verified here.
func (o options) open(v *verification, dir string, open Opener) (File, error) {
	var segments []string
	if o.segments != "" {
		segments = append(segments, o.segments)
	}
	record, err := open(dir, segments...)
	switch {
	case err == nil:
		return record, nil
	case errors.Is(err, fs.ErrNotExist):
		if _, serr := os.Stat(filepath.Join(dir, "proof")); serr != nil {
			return nil, shell.Hinted(shell.Usagef("%s is no data directory of Trapeze: it has neither a record nor proofs", dir), "name the data directory of a server, or a copy of one")
		}
		v.found("the record, trapeze.db, is missing, and its proofs are there: %v", err)
		return nil, nil //nolint:nilnil // see above
	case proof.IsUnfinished(err):
		v.note("the record", err)
		return nil, nil //nolint:nilnil // see above
	}
	return nil, err
}

// keysOf returns the public keys, of the directory of proofs unless others are given, and the checkpoints that were kept. No keys: that is a finding.
func (o options) keysOf(files string, v *verification) (proof.Keys, []proof.Checkpoint, error) {
	own := filepath.Join(files, "keys")
	if o.keys != "" {
		return o.read("")
	}
	text, err := os.ReadFile(own) //nolint:gosec // the path is the user's
	if errors.Is(err, fs.ErrNotExist) {
		v.found("proof/keys, the public keys of the log, is missing: no checkpoint can be verified; restore it from a backup, or give them with --keys")
		return nil, nil, nil
	}
	if err != nil {
		v.note("proof/keys", err)
		return nil, nil, nil
	}
	if _, err := proof.ParseKeys(string(text)); err != nil {
		v.found("proof/keys, the public keys of the log, is damaged: no checkpoint can be verified; restore it from a backup, or give them with --keys: %v", err)
		return nil, nil, nil
	}
	return o.read(own)
}

// checkParts refuses flags that say which parts of a data directory are verified.
func (o options) checkParts(dir bool) error {
	switch {
	case o.record && !dir:
		return shell.Usagef("--record is for a data directory")
	case o.record && o.fast:
		return shell.Usagef("--fast reads the newest entries, and --record all of them: give one of them")
	}
	return nil
}

// checkKeys returns what is wrong with the keys beside the record.
func (v *verification) checkKeys(ctx context.Context, record File) (findings []proof.Finding) {
	found, err := record.CheckKeys(ctx)
	for _, what := range found {
		findings = append(findings, proof.Finding{What: what})
	}
	v.note("the keys beside the record", err)
	return findings
}

// structure is the check of the database as a file, which is made while the entries are verified.
type structure struct {
	began time.Time
	ended chan struct{}
	took  time.Duration
	found []string
	err   error
}

func beginStructure(ctx context.Context, record File) *structure {
	s := &structure{began: time.Now(), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.found, s.err = record.CheckFile(ctx)
		s.took = time.Since(s.began)
	}()
	return s
}

// end waits for the check, and returns what is wrong.
func (s *structure) end(v *verification) (findings []proof.Finding) {
	<-s.ended
	v.took = append(v.took, part{What: "the structure of the database, meanwhile", Seconds: s.took.Round(time.Millisecond).Seconds()})
	for _, what := range s.found {
		findings = append(findings, proof.Finding{What: "the database is damaged: " + what})
	}
	var of proof.Placed
	err := s.err
	switch {
	case errors.As(err, &of):
		at, what := of.Place()
		findings = append(findings, proof.Finding{Position: at, What: "the database is damaged: " + what})
		err = nil
	case err != nil && !isUnfinished(err):
		findings = append(findings, proof.Finding{What: "the database cannot be checked: " + err.Error()})
		err = nil
	}
	v.note("the database", err)
	return findings
}

// derived verifies what is beside the record: the artifacts, and the views if the record verifies. It returns how many artifacts were compared.
func (o options) derived(ctx context.Context, dir string, record File, views *comparison, v *verification) int {
	sound := len(v.findings) == 0 && v.unfinished == nil
	if o.fast {
		return 0
	}
	began := time.Now()
	artifacts, wrong, err := checkArtifacts(ctx, filepath.Join(dir, "artifacts", "data"))
	v.findings = append(v.findings, wrong...)
	v.note("the artifacts", err)
	v.timed("the artifacts", time.Since(began), 0)
	if o.record {
		v.omitted = append(v.omitted, "the views, the order of the events of tasks, and which artifacts and tokens there should be, since --record was given")
		return artifacts
	}
	if !sound || v.unfinished != nil || views.order == nil {
		v.omitted = append(v.omitted, "the views, the order of the events of tasks, and which artifacts and tokens there should be, since what is found comes first")
		return artifacts
	}
	v.derive(ctx, "the order of the events of tasks cannot be verified", func(ctx context.Context) ([]proof.Finding, error) { return views.order.Finish(ctx, record) })
	v.derive(ctx, "the views cannot be compared with the record", inWords(func(context.Context) ([]string, error) { return views.found, views.err }))
	v.derive(ctx, "not all artifacts and tokens beside the record can be checked", inWords(record.CheckFiles))
	return artifacts
}

// comparison is that of the views and of the order of events, which is made while the entries are verified.
type comparison struct {
	order *taskorder.Checker // nil: nothing is compared
	along *proof.Ahead       // nil: as above
	ended chan struct{}
	found []string // of the views
	err   error
}

// entries verifies the entries, and compares the views and the order of events with them.
func (o options) entries(ctx context.Context, record File, evidence proof.Evidence, v *verification) (proof.Report, *comparison) {
	began := time.Now()
	views := o.compareViews(ctx, record, v)
	evidence.Along = views.along
	report, err := proof.VerifyRecord(ctx, record, evidence)
	<-views.ended
	v.timed(views.what(err == nil && len(report.Findings) == 0), time.Since(began)-report.Recount, o.compared(report))
	if report.Recount > 0 {
		v.timed("the counts of exports, for which the entries are read once more", report.Recount, 0)
	}
	v.findings = append(v.findings, report.Findings...)
	if !v.note("the record", err) && err != nil {
		v.findings[len(v.findings)-1].Position = report.Entries + 1
	}
	if report.Uncounted > 0 {
		why := "entries that they count are put away"
		if err != nil || report.Counted == 0 && len(report.Findings) > 0 { // before any was compared
			why = "what is found comes first"
		}
		v.omitted = append(v.omitted, fmt.Sprintf("the counts of %d exports, since %s", report.Uncounted, why))
	}
	return report, views
}

// compareViews begins to compare the views and the order of events, unless something is found before.
func (o options) compareViews(ctx context.Context, record File, v *verification) *comparison {
	c := &comparison{ended: make(chan struct{})}
	if o.fast || o.record || len(v.findings) > 0 {
		close(c.ended)
		return c
	}
	c.order = taskorder.New()
	c.along = proof.Alongside(record, c.order)
	go func() {
		defer close(c.ended)
		c.found, c.err = record.CheckViews(ctx, c.along)
	}()
	return c
}

// what is what was compared with the entries, which are sound or not.
func (c *comparison) what(sound bool) string {
	const entries = "the entries, against their checksums, the tree and the checkpoints"
	if c.order == nil || c.err != nil || !sound {
		return entries
	}
	return entries + ", with the views, built again, and the order of events"
}

// derive does a check of what is derived from the record; what names the check if it cannot be done.
func (v *verification) derive(ctx context.Context, what string, check func(context.Context) ([]proof.Finding, error)) {
	found, err := check(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if segment.IsPutAway(err) {
		v.viewsAway, err = true, nil
	}
	if none, ok := errors.AsType[*proof.NotCompared](err); ok {
		err = nil
		if !slices.Contains(v.omitted, none.Why) {
			v.omitted = append(v.omitted, none.Why)
		}
	}
	if err != nil && !isUnfinished(err) {
		found, err = append(found, notCompared(what, err)), nil
	}
	v.findings = append(v.findings, found...)
	v.note(what, err)
}

// notCompared is the finding that something cannot be compared, at the entry for which it cannot.
func notCompared(what string, err error) proof.Finding {
	var of proof.Placed
	if errors.As(err, &of) {
		at, why := of.Place()
		return proof.Finding{Position: at, What: what + ": " + why}
	}
	return proof.Finding{What: what + ": " + err.Error()}
}

// inWords makes findings of what a check says.
func inWords(check func(context.Context) ([]string, error)) func(context.Context) ([]proof.Finding, error) {
	return func(ctx context.Context) (list []proof.Finding, err error) {
		found, err := check(ctx)
		for _, what := range found {
			list = append(list, proof.Finding{What: what})
		}
		return list, err
	}
}

// notChecked adds names of those whose signatures are not checked.
func (v *verification) notChecked(names ...string) {
	for _, name := range names {
		if !slices.Contains(v.unchecked, name) {
			v.unchecked = append(v.unchecked, name)
		}
	}
}
