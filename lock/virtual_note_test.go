package lock_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
)

// What people are told about who has a lock.

var noteRuns = runs(lua.Note{})

// requireNotes requires that every node has what is written about a hold, or that none has.
func requireNotes(t *testing.T, nodes []*virtual.Node, there bool) {
	t.Helper()
	synctest.Wait()
	for _, n := range nodes {
		require.Equal(t, there, n.Memory().Exists(keys.Note()), n.Addr())
	}
}

func TestWhoIsRefusedIsToldWhoHasTheLock(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
				holder := w.process(lock.WithLabel("billing@web-3/812"))
				m := holder.kinds(lock.WithNote("nightly export"))[kind]
				held := w.lock(m)
				requireNotes(t, w.nodes, true)
				time.Sleep(4100 * time.Millisecond)

				rival := w.process()
				told := func(err error, after time.Duration) {
					e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
					require.Equal(t, held.ID(), e.Holder)
					require.Equal(t, "billing@web-3/812", e.Label)
					require.Equal(t, "nightly export", e.Note)
					require.InDelta(t, after, e.HeldFor, float64(5*time.Millisecond))
					require.ErrorContains(t, err, fmt.Sprintf("held by %s (billing@web-3/812 for %v: nightly export), which ends in", held.ID(), after.Round(100*time.Millisecond)))
				}
				_, err := rival.kinds()[kind].TryLock(bg)
				told(err, 4100*time.Millisecond)
				_, err = rival.kinds(lock.WithNote("import"))[kind].TryLock(bg)
				told(err, 4100*time.Millisecond)
				told(lockFor(rival.kinds()[kind], brief), 4150*time.Millisecond)

				_, err = holder.kinds()[kind].TryLock(bg)
				e := refused(t, err, lock.ErrLocked, lock.ErrNoQuorum)
				require.True(t, e.Own)
				require.Equal(t, "nightly export", e.Note)

				s, err := m.(lock.Inspector).Inspect(bg)
				require.NoError(t, err)
				require.Equal(t, held.ID(), s.Holder)
				require.Equal(t, "billing@web-3/812", s.Label)
				require.Equal(t, "nightly export", s.Note)
				require.InDelta(t, 4150*time.Millisecond, s.HeldFor, float64(5*time.Millisecond))
				e = refused(t, lockFor(holder.kinds()[kind], brief), lock.ErrLocked, lock.ErrNoQuorum)
				require.True(t, e.Own)
				require.InDelta(t, time.Until(held.Deadline()), e.TTL, float64(5*time.Second))

				require.NoError(t, held.Unlock(bg))
				requireNotes(t, w.nodes, false)
				s, err = m.(lock.Inspector).Inspect(bg)
				require.NoError(t, err)
				require.Zero(t, s.Label+s.Note)
				require.Zero(t, s.HeldFor)
			})
		})
	}
}

// The label that nobody has set costs short holds nothing.
func TestTheDefaultLabelComesWithTheFirstRenewal(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		m := p.mutex()
		for range 3 {
			require.NoError(t, w.lock(m).Unlock(bg))
		}
		held := w.lock(m)
		for _, n := range w.nodes {
			require.Empty(t, n.Commands(noteRuns))
		}
		time.Sleep(defaultTTL / 3)
		requireNotes(t, w.nodes, true)
		s, err := m.Inspect(bg)
		require.NoError(t, err)
		host, err := os.Hostname()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%s/%d %s", host, os.Getpid(), filepath.Base(os.Args[0])), s.Label)
		require.Empty(t, s.Note)
		require.InDelta(t, defaultTTL/3, s.HeldFor, float64(5*time.Millisecond))
		require.NoError(t, held.Unlock(bg))
		requireNotes(t, w.nodes, false)

		fixed := w.lock(p.mutex(lock.WithoutWatchdog())) // which is never renewed
		requireNotes(t, w.nodes, true)
		require.NoError(t, fixed.Unlock(bg))
		requireNotes(t, w.nodes, false)
	})
}

func TestAnEmptyLabelIsNotWritten(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		held := w.lock(w.process(lock.WithLabel("")).mutex())
		time.Sleep(3 * defaultTTL)
		requireNotes(t, w.nodes, false)
		require.NoError(t, held.Unlock(bg))
	})
}

// A note lives and dies with the hold, and renewals hardly cost more for it.
func TestANoteLastsAsLongAsTheHold(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		crashes := w.process()
		m := crashes.mutex(lock.WithNote("long"))
		w.lock(m)
		for range 60 {
			time.Sleep(time.Minute)
			s, err := m.Inspect(bg)
			require.NoError(t, err)
			require.Equal(t, "long", s.Note)
			require.InDelta(t, s.TTL, w.nodes[0].Memory().TTL(keys.Note()), float64(5*time.Millisecond))
		}
		for _, n := range w.nodes {
			require.LessOrEqual(t, len(n.Commands(noteRuns)), 7)
		}
		crashes.Kill()
		time.Sleep(defaultTTL)
		requireNotes(t, w.nodes, false)
	})
}

// A node that comes back empty has the note again, after a while.
func TestANoteIsWrittenAgain(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		held := w.lock(w.process().mutex(lock.WithNote("long")))
		for _, n := range w.nodes {
			n.Memory().Del(keys.Note())
		}
		time.Sleep(10*time.Minute + defaultTTL/3)
		requireNotes(t, w.nodes, true)
		require.NoError(t, held.Unlock(bg))
		requireNotes(t, w.nodes, false)
	})
}

// A node that did not confirm the note, as its connection broke, is told with the next renewal.
func TestANoteThatWasLostIsWrittenWithTheNextRenewal(t *testing.T) {
	for name, c := range map[string]struct {
		opts []lock.Option
		ends time.Duration // when the first note is lost: with the grant, or with the first renewal
	}{
		"note":          {[]lock.Option{lock.WithNote("nightly export")}, 0},
		"default label": {nil, defaultTTL / 3},
	} {
		for lost, of := range map[string]func(*world) []*virtual.Node{
			"everywhere":      func(w *world) []*virtual.Node { return w.nodes },
			"on a minority":   (*world).minority,
			"on the majority": (*world).quorum,
		} {
			t.Run(name+" "+lost, func(t *testing.T) {
				inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
					losing := of(w)
					each(losing, func(n *virtual.Node) { n.Refuse(noteRuns) })
					held := w.lock(w.process().mutex(c.opts...))
					time.Sleep(c.ends)
					requireNotes(t, losing, false)
					each(losing, func(n *virtual.Node) { n.Refuse(nil) })
					time.Sleep(defaultTTL / 3)
					requireNotes(t, w.nodes, true)
					require.NoError(t, held.Unlock(bg))
					requireNotes(t, w.nodes, false)
				})
			})
		}
	}
}

// A node that takes no note is asked no more often than the hold is renewed, and the others are not asked again.
func TestANodeThatTakesNoNoteIsAskedOncePerRenewal(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		losing := w.nodes[0]
		losing.Refuse(noteRuns)
		held := w.lock(w.process().mutex(lock.WithNote("nightly export")))
		time.Sleep(5 * time.Minute)
		asked, renewed := len(losing.Commands(noteRuns)), len(renewals(losing))
		require.Greater(t, asked, 20)
		require.LessOrEqual(t, asked, renewed+1, "with the grant, and with each renewal")
		for _, n := range w.nodes[1:] {
			require.Len(t, n.Commands(noteRuns), 1, n.Addr())
		}
		require.NoError(t, held.Unlock(bg))
		synctest.Wait()
		before := len(losing.Commands(noteRuns))
		time.Sleep(5 * time.Minute)
		require.Len(t, losing.Commands(noteRuns), before, "the hold has ended")
	})
}

// What is written about a hold is not told of another.
func TestANoteOfAnotherHoldIsNotShown(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		w.lock(w.process(lock.WithLabel("old")).mutex(lock.WithNote("old")))
		p := w.process(lock.WithLabel(""))
		ended, err := p.mutex().ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		held := w.lock(p.mutex())
		requireNotes(t, w.nodes, true)
		s, err := p.mutex().Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, held.ID(), s.Holder)
		require.Zero(t, s.Label+s.Note)
		require.Zero(t, s.HeldFor)
		_, err = w.process().mutex().TryLock(bg)
		require.NotContains(t, err.Error(), "old")
		require.NoError(t, held.Unlock(bg))
	})
}

// There is one place for the notes of all who read: when the one that is described there ends, another is.
func TestAnotherReaderIsDescribedWhenOneEnds(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		first := w.process(lock.WithLabel("billing"))
		a := w.lock(readwrite.New(first.locks, "orders", lock.WithNote("export")).RLocker())
		b := w.lock(readwrite.New(w.process(lock.WithLabel("stock")).locks, "orders", lock.WithNote("import")).RLocker())
		synctest.Wait()
		note := func() string {
			s, err := w.process().mutex().Inspect(bg)
			require.NoError(t, err)
			return s.Note
		}
		require.NoError(t, b.Unlock(bg))
		require.Empty(t, note())
		time.Sleep(time.Until(a.Deadline()) + 15*time.Second) // a TTL, and until a renewal
		require.NoError(t, a.Err())
		require.Equal(t, "export", note())
	})
}

// What is written is the note of the hold that is in progress.
func TestAnotherNoteIsNotPassedOn(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		m := p.mutex(lock.WithNote("one"))
		first := w.lock(m)
		same := wait(bg, m)
		synctest.Wait() // they wait in this order
		other := wait(bg, p.mutex(lock.WithNote("two")))
		synctest.Wait()
		require.NoError(t, first.Unlock(bg))
		second := await(t, same).lease
		require.True(t, strings.HasPrefix(second.ID(), first.ID()+"."), "within the tenure")
		require.NoError(t, second.Unlock(bg))
		third := await(t, other).lease
		require.False(t, strings.HasPrefix(third.ID(), first.ID()+"."))
		requireNotes(t, w.nodes, true)
		s, err := m.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, "two", s.Note)
		require.NoError(t, third.Unlock(bg))
		requireNotes(t, w.nodes, false)
	})
}

func TestLabelsAndNotesAreALineOfText(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		p := w.process()
		h := virtual.NewHost(w.nodes)
		for says, text := range map[string]string{
			"cannot be printed: '\\n'":     "two\nlines",
			"cannot be printed: '\\x1b'":   "\x1b[31mred",
			"cannot be printed: '\\u202e'": "to the left \u202e",
			"is not valid UTF-8":           "\xff",
			"bytes long, the limit is":     strings.Repeat("é", 129),
		} {
			_, err := lock.NewClient(h.Clients(t), lock.WithLabel(text))
			require.ErrorContains(t, err, "the label")
			require.ErrorContains(t, err, says)
			_, err = lock.NewClient(h.Clients(t), lock.WithNote(text))
			require.ErrorContains(t, err, "the note")
			_, err = reentrant.New(p.locks, "orders", lock.WithNote(text)).Lock(bg)
			require.ErrorContains(t, err, "the note")
			require.ErrorContains(t, err, says)
		}
		for _, n := range w.nodes {
			require.Empty(t, n.Commands(acquireRuns))
		}
		held := w.lock(p.mutex(lock.WithNote("Überweisung № 7: 5 % – „fertig“ ✓")))
		s, err := p.mutex().Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, "Überweisung № 7: 5 % – „fertig“ ✓", s.Note)
		require.NoError(t, held.Unlock(bg))
	})
}

// Nodes that come back empty, one after the other, are told again: at once what somebody has written, and the
// default label with the next renewal.
func TestNodesThatForgetTheDescriptionAreToldAgain(t *testing.T) {
	for name, of := range map[string]func(p *process, opts ...lock.Option) lock.Locker{
		"reentrant": func(p *process, opts ...lock.Option) lock.Locker { return p.mutex(opts...) },
		"fair":      func(p *process, opts ...lock.Option) lock.Locker { return p.queue(opts...) },
		"reader": func(p *process, opts ...lock.Option) lock.Locker {
			return readwrite.New(p.locks, "orders", opts...).RLocker()
		},
		"permits": func(p *process, opts ...lock.Option) lock.Locker { return p.permits(3, opts...).Locker(1) },
	} {
		for description, c := range map[string]struct {
			opts []lock.Option
			ttl  time.Duration
		}{
			"written":       {[]lock.Option{lock.WithNote("nightly export")}, time.Hour},
			"default label": {nil, defaultTTL},
		} {
			t.Run(name+" "+description, func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					p := w.probing(virtual.NewHost(w.nodes))
					m := of(p, append(c.opts, lock.WithTTL(c.ttl))...)
					l := w.lock(m)
					time.Sleep(defaultTTL)
					before, err := m.(lock.Inspector).Inspect(bg)
					require.NoError(t, err)
					require.NotEmpty(t, before.Label)
					for _, n := range w.nodes {
						n.Flush()
						w.loadScripts()
						time.Sleep(2100*time.Millisecond + min(c.ttl, defaultTTL)/3*time.Duration(1-len(c.opts)))
					}
					after, err := m.(lock.Inspector).Inspect(bg)
					require.NoError(t, err)
					require.Equal(t, l.ID(), after.Holder)
					require.Equal(t, before.Label, after.Label)
					require.Equal(t, before.Note, after.Note)
					require.Greater(t, after.HeldFor, before.HeldFor)
					require.NoError(t, l.Unlock(bg))
				})
			})
		}
	}
}

// So are nodes that come back empty together, each of them.
func TestNodesThatForgetTheDescriptionTogetherAreToldAgain(t *testing.T) {
	for name, opts := range map[string][]lock.Option{"written": {lock.WithNote("nightly export")}, "default label": nil} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
				l := w.lock(w.probing(virtual.NewHost(w.nodes)).mutex(opts...))
				time.Sleep(defaultTTL)
				each(w.minority(), (*virtual.Node).Flush)
				w.loadScripts()
				time.Sleep(defaultTTL) // two renewals
				requireNotes(t, w.nodes, true)
				require.NoError(t, l.Unlock(bg))
				requireNotes(t, w.nodes, false)
			})
		})
	}
}

// What this process knows of its own hold need not be written anywhere yet.
func TestARefusalByAHoldOfThisClientNamesItAtOnce(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		held := w.lock(p.mutex())
		_, err := p.mutex().TryLock(bg)
		var e *lock.AcquireError
		require.ErrorAs(t, err, &e)
		require.True(t, e.Own)
		require.NotEmpty(t, e.Label)
		require.NoError(t, held.Unlock(bg))
	})
}

// Whoever reads the note of a hold that nobody renews any more has it for as long as the hold is there.
func TestANoteEndsNoSoonerThanTheKey(t *testing.T) {
	const lasts = 10 * time.Minute
	for name, c := range map[string]struct {
		opts []lock.Option
		then func(*lock.Lease)
	}{
		"with a min hold": {[]lock.Option{lock.WithMinHold(lasts), lock.WithNote("nightly export"), lock.WithoutWatchdog()}, func(*lock.Lease) {}},
		// The label that nobody has set is written with the first renewal, and Extend comes before that.
		"extended": {nil, func(l *lock.Lease) {
			require.NoError(t, l.Extend(bg, lasts))
			time.Sleep(defaultTTL / 3)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.mutex(c.opts...))
				start := time.Now()
				c.then(l)
				synctest.Wait()
				p.Kill()
				time.Sleep(lasts - time.Second - time.Since(start))
				s, err := w.process().mutex().Inspect(bg)
				require.NoError(t, err)
				require.Equal(t, l.ID(), s.Holder)
				require.NotEmpty(t, s.Label)
				require.NotZero(t, s.HeldFor)
			})
		})
	}
}

// The nodes do not hear of a hold at the same moment: the first one knows for how long it has been there.
func TestTheNodeThatHasKnownAHoldLongestTellsForHowLong(t *testing.T) {
	const late = 100 * time.Millisecond
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		each(w.nodes[1:], func(n *virtual.Node) { n.SetDelay(late, 0) })
		m := w.process().mutex(lock.WithNote("nightly export"))
		start := time.Now()
		l := w.lock(m)
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) })
		s, err := m.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, "nightly export", s.Note)
		require.InDelta(t, time.Since(start), s.HeldFor, float64(5*time.Millisecond))
		require.NoError(t, l.Unlock(bg))
	})
}
