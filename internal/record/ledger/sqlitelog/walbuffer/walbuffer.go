package walbuffer

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// Name makes the VFS known to SQLite, once for the process, and returns its name, with which nothing can be opened if SQLite did not take it.
var Name = sync.OnceValue(register)

// size of the buffer of a file, in bytes, which holds most commits. The VFS of the system writes 17 bits of a length by a call.
const size = 1<<17 - 8

// base is the VFS of the system, to which the files belong.
var base *sqlite3.Tsqlite3_vfs

// file is what this package keeps of a file, in memory of C, behind what the VFS of the system keeps.
type file struct {
	methods sqlite3.Tsqlite3_io_methods // of the file here
	base    uintptr                     // those of the system
	other   uintptr                     // of a database: its log, or 0; of a log: its database
	data    uintptr                     // of a log: what is kept
	start   int64                       // where in the log it begins
	n       int32                       // so many bytes of it
}

func register() (name string) {
	name = "trapeze-walbuffer"
	tls := libc.NewTLS()
	defer tls.Close()
	system := sqlite3.Xsqlite3_vfs_find(tls, 0)
	own := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(*base)))
	text, err := libc.CString(name)
	if system == 0 || own == 0 || err != nil {
		return name
	}
	base = at[sqlite3.Tsqlite3_vfs](system)
	v := at[sqlite3.Tsqlite3_vfs](own)
	*v = *base
	v.FpNext, v.FzName, v.FxOpen = 0, text, pointer(open)
	v.FszOsFile = int32(behind(0) + unsafe.Sizeof(file{})) //nolint:gosec // a few hundred bytes
	sqlite3.Xsqlite3_vfs_register(tls, own, 0)
	return name
}

func open(tls *libc.TLS, vfs, name, id uintptr, flags int32, out uintptr) int32 {
	rc := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](base.FxOpen)(tls, vfs, name, id, flags, out)
	if rc != sqlite3.SQLITE_OK || flags&(sqlite3.SQLITE_OPEN_MAIN_DB|sqlite3.SQLITE_OPEN_WAL) == 0 {
		return rc
	}
	methods := &at[sqlite3.Tsqlite3_file](id).FpMethods
	f := of(id)
	*f = file{base: *methods, methods: *at[sqlite3.Tsqlite3_io_methods](*methods)}
	if flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0 {
		f.methods.FxShmLock = pointer(lock)
	} else {
		// Without this, SQLite writes a part of a commit after it has synced the log.
		if function[func(*libc.TLS, uintptr) int32](f.methods.FxDeviceCharacteristics)(tls, id)&sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE == 0 {
			return rc
		}
		if f.data = libc.Xmalloc(tls, size); f.data == 0 {
			return rc
		}
		f.other = behind(sqlite3.Xsqlite3_database_file_object(tls, name))
		at[file](f.other).other = behind(id)
		f.methods.FxWrite, f.methods.FxRead, f.methods.FxSync = pointer(write), pointer(read), pointer(syncFile)
		f.methods.FxTruncate, f.methods.FxFileSize, f.methods.FxClose = pointer(truncate), pointer(fileSize), pointer(closeFile)
	}
	*methods = behind(id)
	return rc
}

func write(tls *libc.TLS, id, p uintptr, n int32, offset int64) int32 {
	f := of(id)
	if f.n > 0 && (offset != f.start+int64(f.n) || n > size-f.n) {
		if rc := f.flush(tls, id); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if n > size {
		return function[transfer](f.system().FxWrite)(tls, id, p, n, offset)
	}
	if f.n == 0 {
		f.start = offset
	}
	copy(unsafe.Slice(at[byte](f.data+uintptr(f.n)), n), unsafe.Slice(at[byte](p), n)) //nolint:gosec // within the buffer
	f.n += n
	return sqlite3.SQLITE_OK
}

// flush hands on what is kept. What the system did not take stays.
func (f *file) flush(tls *libc.TLS, id uintptr) int32 {
	if f.n == 0 {
		return sqlite3.SQLITE_OK
	}
	rc := function[transfer](f.system().FxWrite)(tls, id, f.data, f.n, f.start)
	if rc == sqlite3.SQLITE_OK {
		f.n = 0
	}
	return rc
}

func read(tls *libc.TLS, id, p uintptr, n int32, offset int64) int32 {
	f := of(id)
	if rc := f.flush(tls, id); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[transfer](f.system().FxRead)(tls, id, p, n, offset)
}

func syncFile(tls *libc.TLS, id uintptr, flags int32) int32 {
	f := of(id)
	if rc := f.flush(tls, id); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int32) int32](f.system().FxSync)(tls, id, flags)
}

func truncate(tls *libc.TLS, id uintptr, length int64) int32 {
	f := of(id)
	if rc := f.flush(tls, id); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int64) int32](f.system().FxTruncate)(tls, id, length)
}

func fileSize(tls *libc.TLS, id, out uintptr) int32 {
	f := of(id)
	if rc := f.flush(tls, id); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](f.system().FxFileSize)(tls, id, out)
}

func closeFile(tls *libc.TLS, id uintptr) int32 {
	f := of(id)
	at[file](f.other).other = 0
	libc.Xfree(tls, f.data)
	return function[func(*libc.TLS, uintptr) int32](f.system().FxClose)(tls, id)
}

// lock is of a database: its locks are those of the log.
func lock(tls *libc.TLS, id uintptr, offset, n, flags int32) int32 {
	f := of(id)
	if f.other != 0 && offset == writeLock && flags&sqlite3.SQLITE_SHM_UNLOCK != 0 {
		at[file](f.other).n = 0
	}
	return function[func(tls *libc.TLS, id uintptr, offset, n, flags int32) int32](f.system().FxShmLock)(tls, id, offset, n, flags)
}

// writeLock is the number of the lock of the writer; https://www.sqlite.org/walformat.html#locks
const writeLock = 0

// transfer is the type of the functions that read and write.
type transfer = func(tls *libc.TLS, id, p uintptr, n int32, offset int64) int32

func (f *file) system() *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](f.base)
}

func of(id uintptr) *file { return at[file](behind(id)) }

// behind is where this package keeps its part of a file.
func behind(id uintptr) uintptr { return id + uintptr(base.FszOsFile+7)&^7 } //nolint:gosec // positive

// at is what is at an address of C.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer is a function as SQLite, which is translated from C, calls it; function is the opposite. F is the type of a function.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }
