package fifo_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/internal/fifo"
)

// names lists who was overtaken by whom.
func names(found []fifo.Inversion) map[string]string {
	pairs := make(map[string]string)
	for _, i := range found {
		pairs[i.Waiter.Name] = i.By.Name
	}
	return pairs
}

// queue has waiters come one after the other, each with its place before the next comes.
func queue(r *fifo.Recorder, who ...string) map[string]*fifo.Visit {
	visits := make(map[string]*fifo.Visit)
	for _, name := range who {
		visits[name] = r.Begin(name)
		r.Settle("hold of " + name)
	}
	return visits
}

func TestOrderOfArrivalHasNoInversion(t *testing.T) {
	var r fifo.Recorder
	visits := queue(&r, "ann", "bob", "cid")
	for _, name := range []string{"ann", "bob", "cid"} {
		visits[name].Grant("hold of " + name)
	}
	require.Empty(t, fifo.Inversions(r.Waiters()))
	require.Equal(t, []string{"ann", "bob", "cid"}, r.Served())
}

func TestPlantedInversionIsFound(t *testing.T) {
	var r fifo.Recorder
	visits := queue(&r, "ann", "bob", "cid", "dan")
	for _, name := range []string{"ann", "cid", "bob", "dan"} {
		visits[name].Grant("hold of " + name)
	}
	found := fifo.Inversions(r.Waiters())
	require.Equal(t, map[string]string{"bob": "cid"}, names(found))
	require.Equal(t, "bob had its place at 4 and was served at 11; cid began at 5 and was served at 10", found[0].String())
}

func TestStackIsFoundOutAtEveryPlaceButTheTop(t *testing.T) {
	var r fifo.Recorder
	visits := queue(&r, "ann", "bob", "cid", "dan")
	for _, name := range []string{"dan", "cid", "bob", "ann"} {
		visits[name].Grant("hold of " + name)
	}
	require.Equal(t, map[string]string{"ann": "dan", "bob": "dan", "cid": "dan"}, names(fifo.Inversions(r.Waiters())))
}

func TestOverlappingEnqueuesMayBeServedInEitherOrder(t *testing.T) {
	for _, first := range []string{"ann", "bob"} {
		var r fifo.Recorder
		visits := map[string]*fifo.Visit{"ann": r.Begin("ann"), "bob": r.Begin("bob")}
		r.Settle("hold of ann")
		r.Settle("hold of bob")
		visits[first].Grant("hold of " + first)
		for name, v := range visits {
			if name != first {
				v.Grant("hold of " + name)
			}
		}
		require.Empty(t, fifo.Inversions(r.Waiters()))
	}
}

func TestWaiterThatWasNotSeenInTheQueueIsGivenTheBenefitOfTheDoubt(t *testing.T) {
	var r fifo.Recorder
	ann := r.Begin("ann")
	bob := r.Begin("bob")
	bob.Grant("hold of bob") // ann may not have sent anything yet
	ann.Grant("hold of ann")
	require.Empty(t, fifo.Inversions(r.Waiters()))
}

func TestWhoLeavesHasNoClaim(t *testing.T) {
	var r fifo.Recorder
	visits := queue(&r, "ann", "bob")
	visits["ann"].Wait("hold of ann")
	visits["ann"].Leave()
	visits["bob"].Grant("hold of bob")
	require.Empty(t, fifo.Inversions(r.Waiters()))

	visits = queue(&r, "cid", "dan")
	visits["cid"].Wait("hold of cid")
	visits["dan"].Grant("hold of dan")
	visits["cid"].Leave() // in vain, and too late
	require.Equal(t, map[string]string{"cid": "dan"}, names(fifo.Inversions(r.Waiters())))
}

func TestWhoGivesUpItsClaimMayBeServedAllTheSame(t *testing.T) {
	var r fifo.Recorder
	visits := queue(&r, "ann", "bob")
	visits["ann"].Leave()
	visits["bob"].Grant("hold of bob")
	visits["ann"].Grant("hold of ann")
	require.Empty(t, fifo.Inversions(r.Waiters()))
}

func TestWhoIsNeverServedIsOvertakenByAllThatComeLater(t *testing.T) {
	var r fifo.Recorder
	visits := queue(&r, "ann", "bob")
	visits["ann"].Wait("hold of ann")
	visits["bob"].Grant("hold of bob")
	found := fifo.Inversions(r.Waiters())
	require.Equal(t, map[string]string{"ann": "bob"}, names(found))
	require.Contains(t, found[0].String(), "never served")
}

func TestFoundAreExactlyTheInversionsThereAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		require.Equal(t, overtaken(log), keys(names(fifo.Inversions(log))))
	})
}

// drawLog draws moments in a possible order, and nothing else about them.
func drawLog(t *rapid.T) []fifo.Waiter {
	n := rapid.IntRange(0, 8).Draw(t, "waiters")
	moments := rapid.Permutation(moments(4*n)).Draw(t, "moments")
	log := make([]fifo.Waiter, n)
	for i := range log {
		m := moments[4*i : 4*i+4]
		w := fifo.Waiter{Name: string(rune('a' + i)), Began: min(m[0], m[1]), Ended: max(m[0], m[1])}
		switch rapid.SampledFrom([]string{"served", "left", "waiting", "unseen"}).Draw(t, "fate") {
		case "served":
			w.Granted = max(w.Ended, m[2])
		case "left":
			w.Left = max(w.Ended, m[2])
		case "unseen":
			w.Granted = w.Ended
		}
		log[i] = w
	}
	return log
}

func moments(n int) []fifo.Moment {
	all := make([]fifo.Moment, n)
	for i := range all {
		all[i] = fifo.Moment(i + 1)
	}
	return all
}

// overtaken is the definition, pair by pair.
func overtaken(log []fifo.Waiter) map[string]bool {
	found := make(map[string]bool)
	for _, a := range log {
		until := fifo.Moment(math.MaxInt64)
		switch {
		case a.Granted > 0:
			until = a.Granted
		case a.Left > 0:
			until = a.Left
		}
		for _, b := range log {
			if a.Ended > 0 && a.Ended < b.Began && b.Granted > 0 && b.Granted < until {
				found[a.Name] = true
			}
		}
	}
	return found
}

func keys(pairs map[string]string) map[string]bool {
	found := make(map[string]bool)
	for name := range pairs {
		found[name] = true
	}
	return found
}
