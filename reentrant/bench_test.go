package reentrant_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/overhead"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

func mutex(locks *lock.Client, name string) lock.Locker { return reentrant.New(locks, name) }

func BenchmarkLockAndUnlock(b *testing.B) { overhead.LockAndUnlock(b, mutex) }

func BenchmarkLockAndUnlockInParallel(b *testing.B) { overhead.LockAndUnlockInParallel(b, mutex) }

func BenchmarkReenter(b *testing.B) { overhead.Reenter(b, mutex) }

func TestAllocationsOfALock(t *testing.T) {
	overhead.Allocations(t, mutex, overhead.Bounds{One: 30, Five: 50, Nested: 5})
}

func TestAllocationsOfAHandOver(t *testing.T) { overhead.HandOver(t, mutex, 6) }

func TestAllocationsOfAnObserver(t *testing.T) { overhead.Observed(t, mutex) }
