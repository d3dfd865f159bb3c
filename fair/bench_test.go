package fair_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/overhead"
	"github.com/holdfast-go/holdfast/lock"
)

func mutex(locks *lock.Client, name string) lock.Locker { return fair.New(locks, name) }

func BenchmarkLockAndUnlock(b *testing.B) { overhead.LockAndUnlock(b, mutex) }

func BenchmarkLockAndUnlockInParallel(b *testing.B) { overhead.LockAndUnlockInParallel(b, mutex) }

func BenchmarkReenter(b *testing.B) { overhead.Reenter(b, mutex) }

func TestAllocationsOfALock(t *testing.T) {
	overhead.Allocations(t, mutex, overhead.Bounds{One: 44, Five: 64, Nested: 5})
}

func TestAllocationsOfAnObserver(t *testing.T) { overhead.Observed(t, mutex) }
