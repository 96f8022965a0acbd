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

// Snapshot is the state of a working tree: a commit and a patch on it. The patch is an artifact.
type Snapshot struct {
	Remote  string          `json:"remote,omitempty"`  // URL of the repository, without credentials
	Branch  string          `json:"branch,omitempty"`  // empty if no branch is checked out
	Commit  string          `json:"commit"`            // full id
	Pushed  bool            `json:"pushed"`            // a remote-tracking branch contains the commit
	Tree    string          `json:"tree"`              // id of the git tree of the whole state, patch included
	Patch   artifact.Digest `json:"patch,omitempty"`   // empty if nothing differs from the commit
	Size    int64           `json:"size,omitempty"`    // bytes of the patch
	Skipped []string        `json:"skipped,omitempty"` // changed submodules and nested repositories, which are not included
	Dropped int             `json:"dropped,omitempty"` // the number of skipped paths that Skipped does not name
}

// Parse parses the document of a snapshot. It refuses (invalid, too_large) one that [Take] would not make.
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

// Check refuses (invalid) a snapshot that [Take] would not make.
func (s Snapshot) Check() error {
	switch {
	case !objectID(s.Commit):
		return invalid("its commit is not a full id in lower-case hex")
	case !objectID(s.Tree) || len(s.Tree) != len(s.Commit):
		return invalid("its tree is not a full id in lower-case hex")
	case s.Remote != "" && cleanRemote(s.Remote) != s.Remote:
		return invalid("its remote is not a plain URL without credentials")
	case s.Branch != "" && !branchName(s.Branch):
		return invalid("its branch is not a name of git's without characters of a shell")
	case s.Size < 0 || s.Dropped < 0 || (s.Size == 0) != (s.Patch == ""):
		return invalid("its patch and size do not match")
	case len(s.Skipped) > maxSkipped:
		return invalid("it names too many paths")
	case s.Patch != "":
		return s.Patch.Check()
	}
	return nil
}

func invalid(format string, args ...any) error {
	return refusal.New(refusal.Invalid, "send the document that was sent with the handoff", "this is not a git snapshot: "+format, args...)
}

// objectID reports whether s is a full id of a git object, by SHA-1 or SHA-256.
func objectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// plain reports whether s can be shown, and passed to a program without being taken for an option.
func plain(s string) bool {
	return s != "" && len(s) <= maxText && s[0] != '-' && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
}

// branchName reports whether s is the name of a branch by git's rules (git-check-ref-format), without the characters that a shell
// gives a meaning, which git allows.
func branchName(s string) bool {
	if !plain(s) || !pathName(s) || s == "@" || strings.HasSuffix(s, ".") || strings.Contains(s, "..") || strings.ContainsAny(s, ":~%") {
		return false
	}
	for _, part := range strings.Split(s, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// pathName reports whether s consists of characters that no shell gives a meaning: letters and digits of any language, and what
// addresses and names of branches usually have besides.
func pathName(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_./:@%+,=#~[]", r)
	})
}

// hostName reports whether s can be the name or the address of a host: RFC 1123, with "_" as some have, and IPv6.
func hostName(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:", r)
	})
}

// cleanRemote returns the URL of a remote without user names, passwords and tokens; "" for one that is local to this machine,
// cannot be shown, or is of a kind that runs programs.
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
	if !hostName(u.Hostname()) {
		return ""
	}
	if clean := u.String(); plain(clean) && pathName(clean) {
		return clean
	}
	return ""
}

// cleanSCP is cleanRemote for an address such as git@example.com:team/project.
func cleanSCP(s string) string {
	host, dir, ok := strings.Cut(s, ":")
	if !ok || strings.HasPrefix(dir, ":") || strings.ContainsAny(host, `/\`) || dir == "" {
		return "" // a path, or "ext::…"
	}
	user, name, at := strings.Cut(host, "@")
	if !at {
		user, name = "", host
	}
	if len(name) == 1 || !hostName(name) || !pathName(dir) || dir[0] == '-' || strings.Contains(dir, "@") {
		return "" // a drive letter, or a password with a colon
	}
	if user = login(user); user != "" {
		return user + "@" + name + ":" + dir
	}
	return name + ":" + dir
}

// login keeps only the user name "git", which is no secret and which such an address needs.
func login(user string) string {
	if user == "git" {
		return user
	}
	return ""
}

// escapes reports whether a symbolic link at a path of the tree points out of the tree or into the .git directory.
func escapes(link, target string) bool {
	to := path.Join(path.Dir(link), target)
	return target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") || to == ".." || strings.HasPrefix(to, "../") ||
		strings.EqualFold(to, ".git") || len(to) > 4 && strings.EqualFold(to[:5], ".git/")
}
