package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// File is the file of a record, opened for reading.
type File interface {
	proof.Record
	// CheckFile returns what is wrong with the structure of the file. Errors: [proof.Placed], and those of the file.
	CheckFile(ctx context.Context) ([]string, error)
	// CheckKeys returns which keys beside the record are damaged.
	CheckKeys(ctx context.Context) ([]string, error)
	// CheckViews returns how the views differ from the record, by the entries that are read along with a verification. Errors that say nothing of them: *[proof.NotCompared], and see [proof.IsUnfinished].
	CheckViews(ctx context.Context, along *proof.Ahead) ([]string, error)
	// CheckFiles returns which artifacts are missing to which envelopes refer, and which tokens that are kept were changed. Errors as those of CheckViews.
	CheckFiles(ctx context.Context) ([]string, error)
	io.Closer
}

// mover is a [File] that may have been opened as one that no program writes.
type mover interface {
	// Moved reports whether one has begun to write it since.
	Moved() bool
}

// Opener opens the record in a data directory without changing it. Entries that were put away are read from the segments in it and in other directories.
type Opener func(dir string, segments ...string) (File, error)

// options are the flags.
type options struct {
	keys        string
	checkpoints []string
	fast        bool
	record      bool // neither the views nor the order of events
	witnessKeys []string
	witnesses   int
	segments    string // a directory; empty: none besides that of the data directory
	complete    bool
}

// Command is the command trapeze verify.
func Command(s *shell.Shell, open Opener) *cobra.Command {
	var o options
	var cmd *cobra.Command
	cmd = s.Command("verify FILE|DIR", "Verify a receipt, an export, checkpoints, a segment or a data directory, without a server", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		if cmd.Flags().Changed("keys") && o.keys == "" {
			return shell.Usagef("--keys names no file")
		}
		info, err := os.Stat(args[0])
		if err != nil {
			return fileError(err)
		}
		if err := o.checkParts(info.IsDir()); err != nil {
			return err
		}
		if err := o.checkSegments(cmd.Flags().Changed("segments"), info.IsDir()); err != nil {
			return err
		}
		switch {
		case o.complete && (info.IsDir() || isSegment(args[0])):
			return shell.Usagef("--complete is for an export: trapeze audit export --format proof")
		case info.IsDir():
			return o.directory(ctx, s, args[0], open)
		case isSegment(args[0]):
			return o.segment(ctx, s, args[0])
		}
		return o.file(s, args[0])
	})
	cmd.Long = `Verify what Trapeze has recorded, without a server and without a network.

A receipt, a checkpoint, an export with --format proof, or a segment of "trapeze put-away" (a file) is verified with the public keys of its log: --keys names a file with them, which you got from the
operator of the server and not with the receipt ("trapeze audit keys", or DIR/proof/keys).

An export of a workspace or a task says in its own entry how many entries there were to export, and the hash of all of them, so that none can be left out: what is missing is said, and with --complete
it is an error. Entries of which something is withheld from you count by their hash.

A data directory, or a copy of one, is verified whole: each entry against its checksum and the stored tree, the tree against the last
checkpoint, each envelope and artifact against its digest, the events of each task against what the rules may write, the views and the tokens that are kept beside it against the record, and the structure of the database. --fast reads the newest
256 entries, and compares the tree with the checkpoints. --record reads every entry, and all but the views, the order of events, and which artifacts and tokens there should be, which take most of the
time: they are what the server made of the record, and a record that verifies tells what they must be. With --checkpoint, which can be repeated, it is also
held against checkpoints that you kept elsewhere: only they show that the whole directory was exchanged for an older or another one.

Of entries that were put away in segments that are not in the data directory, the hashes are compared with the tree, and neither the views nor the order of the events of tasks are compared; that is said, and is
no finding. --segments names a directory with those segments, where each must then be. Segments that are there are compared with the record.

With --witness-key, a receipt, a checkpoint, or the newest cosigned checkpoint of a data directory must also be cosigned by one of those witnesses, or by as many as
--witnesses says. A signature by a key that is not given is not checked, which is said.

The exit code is 0 if everything verifies, and 1 if something does not, or is of a newer version of Trapeze. It is 2 for a file or a directory that is not there or is none
of these, 4 for the directory of a front end, whose record is elsewhere, and 6 if the verification could not be finished, because something could not be read or there was no space in the
temporary directory: these say nothing of what is verified. See trapeze help exit-codes.
docs/proofs.md describes the formats.`
	cmd.Flags().StringVar(&o.keys, "keys", "", "file with the public keys of the log, one in each line (default: proof/keys in the data directory)")
	cmd.Flags().StringArrayVar(&o.checkpoints, "checkpoint", nil, "file with a checkpoint that was kept (can be repeated)")
	cmd.Flags().BoolVar(&o.fast, "fast", false, "verify the tree, the checkpoints and the newest entries of a data directory only")
	cmd.Flags().BoolVar(&o.record, "record", false, "verify every entry of a data directory, and neither the views nor the order of events")
	cmd.Flags().StringArrayVar(&o.witnessKeys, "witness-key", nil, "file with the public keys of witnesses, one in each line, whose cosignatures are verified (can be repeated)")
	cmd.Flags().IntVar(&o.witnesses, "witnesses", 0, "how many of those witnesses must have cosigned (default 1)")
	cmd.Flags().StringVar(&o.segments, "segments", "", "directory with the segments that were taken out of a data directory")
	cmd.Flags().BoolVar(&o.complete, "complete", false, "an export must have every entry that there was of its workspace or task")
	return shell.Example(cmd, "trapeze verify ~/.local/share/trapeze --checkpoint kept.txt --keys keys.txt")
}

// read returns the public keys, and the checkpoints that were kept.
func (o options) read(keysFile string) (proof.Keys, []proof.Checkpoint, error) {
	if o.keys != "" {
		keysFile = o.keys
	}
	if keysFile == "" {
		return nil, nil, shell.Usagef("name the file with the public keys of the log: --keys FILE")
	}
	text, err := os.ReadFile(keysFile) //nolint:gosec // the path is the user's
	if err != nil {
		return nil, nil, fileError(err)
	}
	keys, err := proof.ParseKeys(string(text))
	if err != nil {
		return nil, nil, shell.Usage(fmt.Errorf("%s: %w", keysFile, err))
	}
	var list []proof.Checkpoint
	for _, name := range o.checkpoints {
		c, err := openCheckpoint(name, keys)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, c)
	}
	return keys, list, nil
}

func openCheckpoint(name string, keys proof.Keys) (proof.Checkpoint, error) {
	b, err := os.ReadFile(name) //nolint:gosec // the path is the user's
	if err != nil {
		return proof.Checkpoint{}, fileError(err)
	}
	if proof.HasInclusions(b) {
		return proof.Checkpoint{}, shell.Usagef("%s is a receipt or an export, and no checkpoint: get one with trapeze audit checkpoint -o FILE", name)
	}
	c, err := proof.OpenCheckpoint(b, keys)
	if err != nil {
		return proof.Checkpoint{}, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// file verifies a receipt, an export of proofs, or a checkpoint.
func (o options) file(s *shell.Shell, name string) error {
	keys, kept, err := o.read("")
	if err != nil {
		return err
	}
	r, err := readReceipt(name, keys)
	if errors.Is(err, proof.ErrProof) && len(r.Notes) == 0 {
		text, rerr := os.ReadFile(name) //nolint:gosec // the path is the user's
		if rerr != nil {
			return fileError(rerr)
		}
		if proof.HasInclusions(text) {
			return err
		}
		if own, cerr := proof.OpenCheckpoint(text, keys); cerr == nil || !errors.Is(cerr, proof.ErrCheckpoint) {
			r.Checkpoint, err = own, cerr
			r.Notes = [][]byte{text}
		} else {
			err = shell.Hinted(err, "a receipt, a checkpoint and an export verify; an export must be made with --format proof")
		}
	}
	if isUnfinished(err) {
		return unfinished(err)
	}
	if err != nil {
		return err
	}
	c := r.Checkpoint
	r.Log, r.Size = c.Origin, c.Size
	seen, err := o.cosigned(r.Notes...)
	if err != nil {
		return err
	}
	unchecked, err := o.unchecked(keys, r.Notes...)
	if err != nil {
		return err
	}
	for _, had := range kept {
		if had.Origin == c.Origin && had.Size != c.Size {
			return shell.Usagef("two checkpoints of different sizes (%d and %d) cannot be compared without the record: use trapeze verify DIR with a --checkpoint for each, or ask the server with trapeze audit check", had.Size, c.Size)
		}
	}
	v := verification{findings: proof.CheckFork(append(kept, c))}
	streams, lacking := r.Streams()
	answer := struct {
		proof.Receipt
		Streams    int                 `json:"streams"`
		Incomplete []proof.Incomplete  `json:"incomplete,omitempty"`
		Cosigned   []proof.Cosignature `json:"cosigned,omitempty"`
		Unchecked  []string            `json:"unchecked,omitempty"` // whose signatures are by keys that are not given
	}{r, streams, lacking, seen, unchecked}
	if err := s.Emit(answer, func(p *shell.Page) {
		showReceipt(p, r)
		showStreams(p, streams, lacking)
		showExport(p, r)
		showWitnesses(p, seen, unchecked)
	}); err != nil {
		return err
	}
	if err := v.result(s); err != nil || !o.complete {
		return err
	}
	return checkComplete(r)
}

// garbage is the share of the heap in use, in percent, that may be allocated before it is collected again: nearly all memory of a verification is garbage after a page of
// entries, and what remains is small.
const garbage = 200

// directory verifies a data directory. What is found while a server starts, or while the key of the log is rotated, is looked for once more.
func (o options) directory(ctx context.Context, s *shell.Shell, dir string, open Opener) error {
	const looks = 3
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	files := filepath.Join(dir, "proof")
	for range looks {
		v, before := &verification{}, signersIn(files)
		show, err := o.look(ctx, s, dir, open, v)
		if len(v.findings) > 0 && ctx.Err() == nil && (v.moved || signersIn(files) != before) {
			continue
		}
		return errors.Join(err, show(), v.result(s))
	}
	return unfinished(errors.New("other programs change the data directory all the time"))
}

// look looks at a data directory once. show prints what it is, if it can be read.
func (o options) look(ctx context.Context, s *shell.Shell, dir string, open Opener, v *verification) (show func() error, err error) {
	files, nothing := filepath.Join(dir, "proof"), func() error { return nil }
	record, err := o.open(v, dir, open)
	if err != nil || record == nil {
		return nothing, err
	}
	defer func() {
		if m, ok := record.(mover); ok {
			v.moved = m.Moved()
		}
		err = errors.Join(err, record.Close())
	}()
	keys, kept, err := o.keysOf(files, v)
	if err != nil || keys == nil {
		return nothing, err
	}
	evidence, err := o.evidence(files, keys, kept, &v.findings)
	if f, ok := evidence.Stored.(proof.Stored); ok {
		if c, ok := f.From.(io.Closer); ok {
			defer func() { err = errors.Join(err, c.Close()) }()
		}
	}
	if err == nil {
		v.unchecked, err = o.unchecked(keys) // of --checkpoint
	}
	if err == nil {
		err = o.witnessed(files, keys, &evidence, v)
	}
	v.note("what is in "+files, err)
	file := v.checkKeys(ctx, record)
	structure := beginStructure(ctx, record)
	if o.fast {
		evidence.Newest = newest
	}
	report, views := o.entries(ctx, record, evidence, v)
	file = append(structure.end(v), file...)
	if v.unfinished != nil {
		v.before(file)
		return nothing, nil
	}
	o.attached(ctx, dir, report, v)
	artifacts := o.derived(ctx, dir, record, views, v)
	v.before(file)
	report.Findings = v.findings
	answer := struct {
		proof.Report
		Checkpoints int `json:"checkpoints"`
		Artifacts   int `json:"artifacts"`
		// The views, and the order of the events of tasks, were not compared, since entries are put away.
		ViewsPutAway bool `json:"views_not_compared,omitempty"`
		// What else was not compared, and why.
		NotCompared []string `json:"not_compared,omitempty"`
		// Who signed the last cosigned checkpoint with a key that is not given.
		Unchecked []string `json:"unchecked,omitempty"`
		Took      []part   `json:"took"`
	}{report, len(report.Held), artifacts, v.viewsAway, v.omitted, v.unchecked, v.took}
	return func() error {
		return s.Emit(answer, func(p *shell.Page) {
			p.Line("%d entries with the root %s, %d checkpoints held, %d artifacts", uint64(report.Entries), report.Root.String(), len(report.Held), artifacts)
			if o.fast {
				p.Line("Entries before the newest %d, artifacts and views were not read, and the order of events was not compared.", newest)
			}
			showAway(p, report, v)
			showWitnesses(p, nil, v.unchecked)
			o.showResult(p, v)
			showTook(p, v.took)
		})
	}, nil
}

// compared is how many entries were compared.
func (o options) compared(report proof.Report) int64 {
	if o.fast {
		return int64(min(report.Entries, newest)) //nolint:gosec // a small number
	}
	return int64(report.Entries) //nolint:gosec // a position
}

// newest is how many entries a fast verification reads.
const newest = 256

// evidence is what is in the directory of the proofs, with the checkpoints that were kept.
func (o options) evidence(dir string, keys proof.Keys, kept []proof.Checkpoint, findings *[]proof.Finding) (proof.Evidence, error) {
	public, err := os.ReadFile(filepath.Join(dir, "keys")) //nolint:gosec // the path is the user's
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return proof.Evidence{}, err
	}
	e := proof.Evidence{Checkpoints: kept, Keys: proof.KeyList(string(public))}
	c, cerr := openCheckpoint(filepath.Join(dir, "checkpoint"), keys) // before the tree, which a running server continues first
	if isUnfinished(cerr) {
		return e, cerr
	}
	tree, err := os.Open(filepath.Join(dir, "tree")) //nolint:gosec // the path is the user's
	switch {
	case errors.Is(err, os.ErrNotExist):
		*findings = append(*findings, proof.Finding{What: "the data directory has no stored tree"})
	case err != nil:
		return e, err
	default:
		info, err := tree.Stat()
		if err != nil {
			return e, errors.Join(err, tree.Close())
		}
		e.Stored, e.Leaves = proof.Stored{From: tree}, proof.Leaves(info.Size())
	}
	if cerr != nil {
		*findings = append(*findings, proof.Finding{What: "the last checkpoint: " + cerr.Error()})
	} else {
		e.Checkpoints = append(e.Checkpoints, c)
		if e.Leaves < c.Size {
			*findings = append(*findings, proof.Finding{What: fmt.Sprintf("the stored tree ends at position %d, before its checkpoint at %d", e.Leaves, c.Size)})
		}
	}
	*findings = append(*findings, proof.CheckFork(e.Checkpoints)...)
	return e, checkSigners(dir, findings)
}
