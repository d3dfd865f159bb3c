package fifo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An Inversion is a waiter that was overtaken.
type Inversion struct {
	Waiter *Waiter
	By     *Waiter // of those who overtook it, the one that came last
}

func (i Inversion) String() string {
	return fmt.Sprintf("%s had its place at %d and was %s; %s began at %d and was served at %d",
		i.Waiter.Name, i.Waiter.Ended, i.Waiter.fate(), i.By.Name, i.By.Began, i.By.Granted)
}

func (w *Waiter) fate() string {
	switch {
	case w.Granted > 0:
		return fmt.Sprint("served at ", w.Granted)
	case w.Left > 0:
		return fmt.Sprint("there until ", w.Left)
	default:
		return "never served"
	}
}

// until is when the waiter's claim to be next ended: it was served, or gave it up before.
func (w *Waiter) until() Moment {
	if w.Left > 0 && (w.Granted == 0 || w.Left < w.Granted) {
		return w.Left
	}
	return cmp.Or(w.Granted, math.MaxInt64)
}

// Inversions finds every waiter that was overtaken: another one's enqueue began after its
// own had ended, and was granted the lock while it still waited. One that is never
// served, and never leaves, waits for ever.
func Inversions(log []Waiter) []Inversion {
	served := slices.DeleteFunc(slices.Clone(log), func(w Waiter) bool { return w.Granted == 0 })
	slices.SortFunc(served, func(a, b Waiter) int { return cmp.Compare(a.Granted, b.Granted) })
	waiting := slices.DeleteFunc(slices.Clone(log), func(w Waiter) bool { return w.Ended == 0 })
	slices.SortFunc(waiting, func(a, b Waiter) int { return cmp.Compare(a.until(), b.until()) })

	var found []Inversion
	latest := &Waiter{} // of those served before w's claim ended, who began last
	next := 0
	for i := range waiting {
		w := &waiting[i]
		for ; next < len(served) && served[next].Granted < w.until(); next++ {
			if served[next].Began > latest.Began {
				latest = &served[next]
			}
		}
		if latest.Began > w.Ended {
			found = append(found, Inversion{Waiter: w, By: latest})
		}
	}
	return found
}
