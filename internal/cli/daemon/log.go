package daemon

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// MaxLog is how many bytes a log has before it is put aside as FILE.1, in place of the one before.
const MaxLog = 4 << 20

// LogFile is where a server that is started in the background writes its log.
func LogFile(dataDir string) string { return filepath.Join(dataDir, "serve.log") }

// Log is a log file of bounded size, its owner's alone. It may be used by several at once.
type Log struct {
	path string
	most int64

	mu   sync.Mutex
	f    *os.File
	size int64
}

// OpenLog goes on with a log.
func OpenLog(path string) (*Log, error) { return openBounded(path, MaxLog) }

func openBounded(path string, most int64) (*Log, error) {
	l := &Log{path: path, most: most}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Log) open() (err error) {
	if l.f, err = openLog(l.path); err != nil {
		return err
	}
	info, err := l.f.Stat()
	if err != nil {
		return errors.Join(err, l.f.Close())
	}
	l.size = info.Size()
	return nil
}

func openLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Write appends p as a whole, to a new file if the present one is full.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.most {
		if err := l.turn(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// turn puts the full file aside. Where a file that somebody has open cannot be moved, it is emptied.
func (l *Log) turn() error {
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		l.size = 0
		return l.f.Truncate(0)
	}
	_ = l.f.Close() // what it says was written already
	return l.open()
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}

// tail is the end of what a log says from a place on, for an error.
func tail(path string, from int64) string {
	const most = 2000
	f, err := os.Open(path)
	if err != nil {
		return "its log cannot be read"
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "its log cannot be read"
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(from, info.Size()-most), most))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return "it said nothing"
	}
	return text
}

// ownersAlone refuses a file that others could have written: what it says is acted on.
func ownersAlone(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // without it nobody serves
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s may be written by others (mode %04o): make it yours alone with chmod 600", path, info.Mode().Perm())
	}
	return nil
}
