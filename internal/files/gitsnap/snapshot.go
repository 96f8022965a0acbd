package gitsnap

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Limits of a snapshot.
const (
	MaxDocument = 64 << 10  // bytes of the document
	MaxTree     = 256 << 20 // bytes of all changed files together, as they are in the working tree
	maxSkipped  = 100       // paths named in Skipped
	maxText     = 2048      // bytes of an address, a branch or a path
)

// Snapshot is the state of a working tree: a commit, and a patch that makes the rest. The patch is an artifact.
type Snapshot struct {
	Remote  string          `json:"remote,omitempty"`  // where the repository comes from, without credentials
	Branch  string          `json:"branch,omitempty"`  // empty where no branch is checked out
	Commit  string          `json:"commit"`            // full id
	Pushed  bool            `json:"pushed"`            // some remote had the commit when it was last heard of
	Tree    string          `json:"tree"`              // id of the git tree of the whole state, patch included
	Patch   artifact.Digest `json:"patch,omitempty"`   // empty where nothing differs from the commit
	Size    int64           `json:"size,omitempty"`    // bytes of the patch
	Skipped []string        `json:"skipped,omitempty"` // changed submodules and nested repositories, which are left out
	Dropped int             `json:"dropped,omitempty"` // how many more there are than Skipped names
}

// Parse reads a snapshot's document. It refuses (invalid, too_large) what [Take] would not have made.
func Parse(doc []byte) (Snapshot, error) {
	if len(doc) > MaxDocument {
		return Snapshot{}, refusal.New(refusal.TooLarge, "send the document that was sent with the handoff", "a git snapshot of %d bytes is too large", len(doc))
	}
	var s Snapshot
	d := json.NewDecoder(bytes.NewReader(doc))
	err := d.Decode(&s)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after it")
		}
	}
	if err != nil {
		return Snapshot{}, invalid("it cannot be read: %s", refusal.Clip(err.Error(), 200))
	}
	return s, s.Check()
}

// Check refuses (invalid) a snapshot that [Take] would not have made.
func (s Snapshot) Check() error {
	switch {
	case !objectID(s.Commit):
		return invalid("its commit is not a full id in lower-case hex")
	case !objectID(s.Tree) || len(s.Tree) != len(s.Commit):
		return invalid("its tree is not a full id in lower-case hex")
	case s.Remote != "" && cleanRemote(s.Remote) != s.Remote:
		return invalid("its remote is not a plain address without credentials")
	case s.Branch != "" && !plain(s.Branch):
		return invalid("its branch is not a plain name")
	case s.Size < 0 || s.Dropped < 0 || (s.Size == 0) != (s.Patch == ""):
		return invalid("its patch and size do not go together")
	case len(s.Skipped) > maxSkipped:
		return invalid("it names too many paths")
	case s.Patch != "":
		return s.Patch.Check()
	}
	return nil
}

func invalid(format string, args ...any) error {
	return refusal.New(refusal.Invalid, "send the document that was sent with the handoff", "this is no git snapshot: "+format, args...)
}

// objectID reports whether s is a full id of a git object, by SHA-1 or SHA-256.
func objectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// plain reports whether s can be shown, and given to a program without being taken for an option.
func plain(s string) bool {
	return s != "" && len(s) <= maxText && s[0] != '-' && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
}

// cleanRemote is a remote's address without user names, passwords and tokens; "" for one that only means something on
// this machine, cannot be shown, or is of a kind that runs programs.
func cleanRemote(s string) string {
	if !plain(s) {
		return ""
	}
	if !strings.Contains(s, "://") {
		return cleanSCP(s)
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return ""
	}
	switch u.Scheme {
	case "https", "http", "git":
		u.User = nil
	case "ssh":
		if u.User != nil {
			u.User = url.User(login(u.User.Username()))
			if u.User.Username() == "" {
				u.User = nil
			}
		}
	default:
		return ""
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	if clean := u.String(); plain(clean) {
		return clean
	}
	return ""
}

// cleanSCP is an address such as git@example.com:team/project.
func cleanSCP(s string) string {
	host, dir, ok := strings.Cut(s, ":")
	if !ok || strings.HasPrefix(dir, ":") || strings.ContainsAny(host, `/\`) || dir == "" {
		return "" // a path, or "ext::…"
	}
	user, name, at := strings.Cut(host, "@")
	if !at {
		user, name = "", host
	}
	if name == "" || len(name) == 1 || strings.Contains(name, "@") || strings.Contains(dir, "@") {
		return "" // a drive's letter, or a password with a colon
	}
	if user = login(user); user != "" {
		return user + "@" + name + ":" + dir
	}
	return name + ":" + dir
}

// login keeps the one user name that is no secret and that an address does not work without.
func login(user string) string {
	if user == "git" {
		return user
	}
	return ""
}

// leadsOut reports whether a symbolic link at a path of the tree points out of the tree, or into git's own directory.
func leadsOut(link, target string) bool {
	to := path.Join(path.Dir(link), target)
	return target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") || to == ".." || strings.HasPrefix(to, "../") ||
		strings.EqualFold(to, ".git") || len(to) > 4 && strings.EqualFold(to[:5], ".git/")
}
