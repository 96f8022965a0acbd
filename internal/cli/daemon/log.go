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

// MaxLog is the size of a log, in bytes, at which it is renamed to FILE.1, which it replaces.
const MaxLog = 4 << 20

// LogFile is the log of a server that runs in the background.
func LogFile(dataDir string) string { return filepath.Join(dataDir, "serve.log") }

// Log is a log file of limited size, which only its owner can read. It is safe for concurrent use.
type Log struct {
	path string
	most int64

	mu   sync.Mutex
	f    *os.File
	size int64
}

// OpenLog opens a log to append to it.
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

// Write appends p to the file, or to a new file if p does not fit.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.most {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// rotate renames the full file. On systems where an open file cannot be renamed, it is emptied.
func (l *Log) rotate() error {
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		l.size = 0
		return l.f.Truncate(0)
	}
	_ = l.f.Close() // everything has been written
	return l.open()
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}

// tail is the end of a log after an offset, for an error.
func tail(path string, from int64) string {
	const most = 2000
	f, err := os.Open(path)
	if err != nil {
		return "the log cannot be read"
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "the log cannot be read"
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(from, info.Size()-most), most))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return "the log is empty"
	}
	return text
}

// checkWritable refuses a file that users other than its owner can write: its content decides which process is stopped.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // no server
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be written by others (mode %04o): restrict it with chmod 600", path, info.Mode().Perm())
	}
	return nil
}
