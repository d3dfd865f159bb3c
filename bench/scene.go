package main

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// A scene watches names from outside of Redis: who is in, and when the last one left.
// It is a file in memory that processes share. Any of them may use it at once.
type scene struct {
	path  string
	bytes []byte
	slots []slot
}

// A slot is one name. It fills a cache line.
type slot struct {
	holders  atomic.Int64
	released atomic.Int64 // when the last holder began to unlock, by now; 0: it was counted
	overlaps atomic.Int64
	_        [5]int64
}

// newScene makes one for so many names, in a file in dir.
func newScene(dir string, names int) (*scene, error) {
	f, err := os.Create(filepath.Join(dir, "scene"))
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping stays
	if err := f.Truncate(int64(names) * int64(unsafe.Sizeof(slot{}))); err != nil {
		return nil, err
	}
	return mapScene(f, names)
}

// openScene opens one that another process has made.
func openScene(path string, names int) (*scene, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapScene(f, names)
}

func mapScene(f *os.File, names int) (*scene, error) {
	size := names * int(unsafe.Sizeof(slot{}))
	bytes, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &scene{
		path:  f.Name(),
		bytes: bytes,
		slots: unsafe.Slice((*slot)(unsafe.Pointer(unsafe.SliceData(bytes))), names),
	}, nil
}

func (s *scene) close() { _ = syscall.Munmap(s.bytes) }

// overlaps is how often a name had two holders.
func (s *scene) overlaps() (sum int64) {
	for i := range s.slots {
		sum += s.slots[i].overlaps.Load()
	}
	return sum
}

// enter notes that the caller was granted the lock at that moment. It returns for how
// long nobody had it, or a negative number if that is not known.
func (s *slot) enter(at int64, reads bool, room int) (gap int64) {
	if inside := s.holders.Add(share(reads)); inside > int64(room) && (!reads || inside%reader != 0) {
		s.overlaps.Add(1)
	}
	released := s.released.Swap(0)
	if released == 0 {
		return -1
	}
	return max(at-released, 0)
}

// leave notes that the caller is about to unlock.
func (s *slot) leave(reads bool) {
	s.released.Store(now())
	s.holders.Add(-share(reads))
}

// reader is what one who reads counts among the holders: others like it leave no trace in the rest.
const reader = 1 << 32

func share(reads bool) int64 {
	if reads {
		return reader
	}
	return 1
}
