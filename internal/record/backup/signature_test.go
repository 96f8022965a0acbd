package backup_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

func TestNothingUnsignedPassesForSigned(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 12)
	src := o.source(t)
	write := func(src backup.Source) []byte {
		var b bytes.Buffer
		if _, err := backup.Write(t.Context(), &b, src, backup.Options{}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	unsigned := src
	unsigned.Note, unsigned.Signed = "", proof.Checkpoint{}
	if _, err := restore(t.Context(), o.keys, write(unsigned)); !errors.Is(err, backup.ErrDiffers) {
		t.Errorf("keys are given, and nothing is signed: %v", err)
	}
	if _, err := restore(t.Context(), "", write(unsigned)); err != nil {
		t.Error(err)
	}
	for name, key := range map[string]string{"no key": "", "a damaged key": src.Key[:20], "the key of another log": otherKey(t)} {
		unsigned := src
		unsigned.Key = key
		if _, err := restore(t.Context(), o.keys, write(unsigned)); !errors.Is(err, backup.ErrDiffers) {
			t.Errorf("%s, and keys are given: %v", name, err)
		}
		r := backup.NewRestorer(&copied{files: map[string]string{}}, "")
		if end, err := r.Add(t.Context(), bytes.NewReader(write(unsigned))); err != nil || end.Signed || !slices.Equal(r.Unsigned(), []string{"policy.yaml"}) {
			t.Errorf("%s: signed %t, %v is not, %v", name, end.Signed, r.Unsigned(), err)
		}
	}
	secrets := backup.Source{Kind: backup.Secrets, Log: "trapeze/other"}
	if _, err := restore(t.Context(), "", write(secrets)); !errors.Is(err, backup.ErrOrder) {
		t.Errorf("secrets alone: %v", err)
	}
	if _, err := restore(t.Context(), "", write(secrets), write(src)); !errors.Is(err, backup.ErrOrder) {
		t.Errorf("secrets of another log: %v", err)
	}
}

func otherKey(t *testing.T) string {
	t.Helper()
	private, _, err := note.GenerateKey(nil, "trapeze/other")
	if err != nil {
		t.Fatal(err)
	}
	return private
}

// rewritten is a backup that another program wrote again: change gets each member, and returns those to write in its place.
func rewritten(t *testing.T, b []byte, change func(name, content string) map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	from, to := tar.NewReader(bytes.NewReader(b)), tar.NewWriter(&out)
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, err2 := io.ReadAll(from)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		list := change(h.Name, string(content))
		for _, name := range slices.Sorted(maps.Keys(list)) {
			err := to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(list[name])), Mode: 0o600})
			_, err2 := io.WriteString(to, list[name])
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Who can write where backups are kept, and has not the key, brings nothing into a restored directory, however well the rest fits together.
func TestASettingThatTheLogDidNotSignIsNotRestored(t *testing.T) {
	const evil = "rules: [evil]"
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 12)
	whole := o.write(t, nil)
	earlier := o.write(t, nil)
	withPolicy := func(name, content string) map[string]string { // and its digest in the end
		switch name {
		case "settings/policy.yaml":
			return map[string]string{name: evil}
		case "end.json":
			old, now := sha256.Sum256([]byte(o.files["policy.yaml"])), sha256.Sum256([]byte(evil))
			return map[string]string{name: strings.ReplaceAll(content, hex.EncodeToString(old[:]), hex.EncodeToString(now[:]))}
		}
		return map[string]string{name: content}
	}
	signatureOf := func(b []byte) (text string) {
		rewritten(t, b, func(name, content string) map[string]string {
			if name == "end.note" {
				text = content
			}
			return nil
		})
		return text
	}
	o.files["policy.yaml"] = evil
	cases := map[string][]byte{
		"with the signature of before": rewritten(t, whole, withPolicy),
		"without a signature": rewritten(t, rewritten(t, whole, withPolicy), func(name, content string) map[string]string {
			if name == "end.note" {
				return nil
			}
			return map[string]string{name: content}
		}),
		"with that of another backup": rewritten(t, o.write(t, nil), func(name, content string) map[string]string {
			if name == "end.note" {
				content = signatureOf(earlier)
			}
			return map[string]string{name: content}
		}),
		"with the checkpoint as a signature": rewritten(t, rewritten(t, whole, withPolicy), func(name, content string) map[string]string {
			if name == "end.note" {
				content = o.source(t).Note
			}
			return map[string]string{name: content}
		}),
	}
	for name, b := range cases {
		if c, err := restore(t.Context(), o.keys, b); !errors.Is(err, backup.ErrDiffers) {
			t.Errorf("%s: restored %v, %v", name, c.files, err)
		}
	}
	if c, err := restore(t.Context(), o.keys, rewritten(t, whole, func(name, content string) map[string]string { return map[string]string{name: content} })); err != nil {
		t.Errorf("written again without a change: %v, %v", c.files, err)
	}
}

func TestNothingFollowsTheEndOfABackup(t *testing.T) {
	o := newOrigin(t, ledgertest.Faults{})
	o.fill(t, 3)
	whole := o.write(t, nil)
	for _, after := range []string{"end.json", "end.note"} {
		b := rewritten(t, whole, func(name, content string) map[string]string {
			if name == after {
				return map[string]string{name: content, "settings/policy.yaml": "rules: [evil]"} // in the order of the names
			}
			return map[string]string{name: content}
		})
		if _, err := restore(t.Context(), "", b); !errors.Is(err, backup.ErrFormat) {
			t.Errorf("a member after %s: %v", after, err)
		}
	}
	if _, err := restore(t.Context(), o.keys, append(bytes.Clone(whole), make([]byte, 9<<10)...)); err != nil {
		t.Errorf("filled with zeros, as tar does: %v", err)
	}
	for name, rest := range map[string][]byte{"text": []byte("more"), "another archive": whole, "megabytes": make([]byte, 2<<20)} {
		if _, err := restore(t.Context(), o.keys, append(bytes.Clone(whole), rest...)); !errors.Is(err, backup.ErrFormat) {
			t.Errorf("followed by %s: %v", name, err)
		}
	}
}
