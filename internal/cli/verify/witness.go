package verify

import (
	"bytes"
	"errors"
	"os"
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

// witnessed verifies the newest cosigned checkpoint of a data directory, and adds it to the evidence.
func (o options) witnessed(file string, keys proof.Keys, e *proof.Evidence, findings *[]proof.Finding) error {
	text, err := os.ReadFile(file) //nolint:gosec // the path is the user's
	if errors.Is(err, os.ErrNotExist) && len(o.witnessKeys) == 0 {
		return nil
	}
	var c proof.Checkpoint
	if err == nil {
		c, err = proof.OpenCheckpoint(bytes.Clone(text), keys)
	}
	if err == nil {
		for _, had := range e.Checkpoints {
			*findings = append(*findings, proof.CheckFork([]proof.Checkpoint{had, c})...)
		}
		e.Checkpoints = append(e.Checkpoints, c)
		_, err = o.cosigned(text)
	}
	if isUnfinished(err) {
		return err
	}
	if err != nil {
		*findings = append(*findings, proof.Finding{What: "the last cosigned checkpoint: " + err.Error()})
	}
	return nil
}

func showWitnesses(p *shell.Page, seen []proof.Cosignature) {
	for _, c := range seen {
		p.Line("cosigned by %s at %s", shell.OneLine(c.Witness), c.Time.Format(time.RFC3339))
	}
}
