package verify

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// by reads the keys of the witnesses that were given, and how many must have cosigned.
func (o options) by() (list []proof.WitnessKey, least int, err error) {
	if len(o.witnessKeys) == 0 {
		if o.witnesses != 0 {
			return nil, 0, shell.Usagef("name the file with the public keys of the witnesses: --witness-key FILE")
		}
		return nil, 0, nil
	}
	var text strings.Builder
	for _, name := range o.witnessKeys {
		b, err := os.ReadFile(name) //nolint:gosec // the path is the user's
		if err != nil {
			return nil, 0, fileError(err)
		}
		text.Write(append(b, '\n'))
	}
	if list, err = proof.ParseWitnessKeys(text.String()); err != nil {
		return nil, 0, shell.Usage(err)
	}
	if least = max(o.witnesses, 1); o.witnesses < 0 || least > len(list) {
		return nil, 0, shell.Usagef("--witnesses is %d, and %d keys of witnesses are given", o.witnesses, len(list))
	}
	return list, least, nil
}

// cosigned verifies the cosignatures of checkpoints. It returns those of the last.
func (o options) cosigned(notes ...[]byte) (seen []proof.Cosignature, err error) {
	list, least, err := o.by()
	if err != nil || list == nil {
		return nil, err
	}
	for _, note := range notes {
		if seen, err = proof.CheckCosignatures(note, list, least); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// unchecked are the names of those who signed checkpoints, or those of --checkpoint, with keys that are not given.
func (o options) unchecked(keys proof.Keys, notes ...[]byte) (names []string, err error) {
	by, _, err := o.by()
	if err != nil {
		return nil, err
	}
	for _, file := range o.checkpoints {
		note, err := os.ReadFile(file) //nolint:gosec // the path is the user's
		if err != nil {
			return nil, fileError(err)
		}
		notes = append(notes, note)
	}
	for _, note := range notes {
		if _, _, err := proof.Cosignatures(note, by); err != nil {
			return nil, err
		}
		for _, name := range proof.Unchecked(note, keys, by) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// witnessed verifies the newest cosigned checkpoint in a directory of proofs, and adds it to the evidence.
func (o options) witnessed(dir string, keys proof.Keys, e *proof.Evidence, v *verification) error {
	text, err := os.ReadFile(filepath.Join(dir, "cosigned")) //nolint:gosec // the path is the user's
	missing := errors.Is(err, os.ErrNotExist)
	if missing && len(o.witnessKeys) == 0 {
		text, err = nil, nil
	}
	var c proof.Checkpoint
	if text != nil {
		c, err = proof.OpenCheckpoint(bytes.Clone(text), keys)
	}
	if err == nil && text != nil {
		for _, had := range e.Checkpoints {
			v.findings = append(v.findings, proof.CheckFork([]proof.Checkpoint{had, c})...)
		}
		e.Checkpoints = append(e.Checkpoints, c)
		_, err = o.cosigned(text)
	}
	if err == nil {
		err = o.byKept(dir, text, keys, c.Origin, v)
	}
	if isUnfinished(err) {
		return err
	}
	if err != nil {
		v.found("the last cosigned checkpoint: %v", err)
	}
	return nil
}

// byKept verifies the cosignatures of a checkpoint, if there is one, by the witnesses whose keys are kept in a directory of proofs. Without keys, as earlier versions
// left it, the names are said.
func (o options) byKept(dir string, text []byte, keys proof.Keys, log string, v *verification) error {
	given, _, err := o.by()
	if err != nil {
		return err
	}
	kept, err := os.ReadFile(filepath.Join(dir, "witnesses")) //nolint:gosec // the path is the user's
	if errors.Is(err, os.ErrNotExist) {
		if text != nil {
			v.notChecked(proof.Unchecked(text, keys, given)...)
		}
		return nil
	}
	if err != nil {
		return err
	}
	by, err := proof.ParseWitnessKeys(string(kept))
	if err == nil {
		err = checkLines(string(kept))
	}
	if err != nil {
		v.found("proof/witnesses, the public keys of witnesses, is damaged: give them with --witness-key: %v", err)
		return nil
	}
	if text == nil {
		return nil
	}
	if _, err := proof.CheckCosignatures(text, by, 1); err != nil {
		return err
	}
	for _, name := range proof.Unchecked(text, keys, append(by, given...)) {
		if o.keys != "" && name == log {
			v.notChecked(name)
			continue
		}
		v.found("the last cosigned checkpoint: it has a signature line of %.200q that is by none of the keys in proof/keys and proof/witnesses", name)
	}
	return nil
}

func showWitnesses(p *shell.Page, seen []proof.Cosignature, unchecked []string) {
	for _, c := range seen {
		p.Line("cosigned by %s at %s", shell.OneLine(c.Witness), c.Time.Format(time.RFC3339))
	}
	for _, name := range unchecked {
		p.Line("Not checked: the signature of %s. If it is of a witness, give its public key: --witness-key FILE; if it is of the log, all its keys: --keys FILE", shell.OneLine(name))
	}
}
