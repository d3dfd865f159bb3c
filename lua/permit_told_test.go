package lua_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A wisher is one who waits for n of so many permits.
type wisher struct {
	id     string
	n, of  int
	ticket int64
}

// wishers are those who wait and are alive, in the order of the queue.
func (f *frozen) wishers() (all []wisher) {
	signs := f.client.HGetAll(bg, orders.Waiters()).Val()
	for _, z := range f.client.ZRangeWithScores(bg, orders.Queue(), 0, -1).Val() {
		w := wisher{id: z.Member.(string), ticket: int64(z.Score)}
		_, err := fmt.Sscanf(w.id[strings.LastIndex(w.id, "p"):], "p%d/%d", &w.n, &w.of)
		require.NoError(f.t, err)
		alive, _, _ := strings.Cut(signs[w.id], " ")
		if until, _ := strconv.ParseInt(alive, 10, 64); until > f.now.UnixMicro() {
			all = append(all, w)
		}
	}
	return all
}

// vacancies are the numbers below of that nobody has.
func (f *frozen) vacancies(of int) (free []int) {
	taken := make(map[int]bool)
	held := f.client.HGetAll(bg, orders.Lock).Val()
	for id, record := range f.client.HGetAll(bg, orders.Slots()).Val() {
		if _, has := held[id]; has {
			_, slots, _ := strings.Cut(record, " ")
			for _, slot := range lua.Slots(slots).List() {
				taken[slot] = true
			}
		}
	}
	for slot := range of {
		if !taken[slot] {
			free = append(free, slot)
		}
	}
	return free
}

// fitting are the ids of those whose turn it is: the first sixteen, as far as there is room for all of them.
func (f *frozen) fitting() map[string]bool {
	fit := make(map[string]bool)
	sum := 0
	for _, w := range f.wishers() {
		sum += w.n
		if len(fit) == 16 || sum > len(f.vacancies(w.of)) {
			break
		}
		fit[w.id] = true
	}
	return fit
}

// Whatever happens, whoever has its turn by that is told, but for the one that does it: it has the answer. The requests are
// of one permit and of more, and of two numbers of permits; who waits dies, leaves, is placed, and names its slots, and
// so does who has them.
func TestWhoeverHasItsTurnIsTold(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 0))
		f := freeze(t)
		total := []int{3, 10, 40}[r.IntN(3)]
		rounds, tickets := make(map[string]int64), make(map[string]int64)
		happens := func(what string, caller string, c lua.Call) {
			before := f.fitting()
			f.heard()
			f.run(c)
			told := make(map[string]bool)
			for _, m := range f.heard() {
				told[strings.Fields(m)[1]] = true
			}
			for id := range f.fitting() {
				if !before[id] && !told[id] && (id != caller || what == "placed") {
					require.Fail(t, "nobody has told it", "seed %d: %s after %s of %s", seed, id, what, caller)
				}
			}
		}
		asks := func(id string, slots lua.Slots) {
			rounds[id]++
			ticket := proposal(0)
			if tickets[id] > 0 {
				ticket = final(tickets[id])
			}
			happens("a request", id, permitAskFor(id, ticket, rounds[id], slots))
		}
		for i := range 80 {
			waiting, holders := f.wishers(), slices.Sorted(maps.Keys(f.client.HGetAll(bg, orders.Lock).Val()))
			if len(waiting) == 0 || len(waiting) < 30 && r.IntN(3) == 0 {
				of := total
				if r.IntN(3) == 0 {
					of = total/2 + 1
				}
				n := 1
				if r.IntN(4) == 0 {
					n += r.IntN(of)
				}
				id := fmt.Sprintf("c%d:1p%d/%d", i, n, of)
				f.listen(fmt.Sprintf("%sc%d", line.Channel, i))
				asks(id, "")
				continue
			}
			w := waiting[r.IntN(len(waiting))]
			free := f.vacancies(w.of)
			held := ""
			if len(holders) > 0 {
				held = holders[r.IntN(len(holders))]
			}
			switch event := r.IntN(11); {
			case event <= 1 && held != "":
				happens("the end", held, permitEnd(held, 0))
			case event == 2 && held != "":
				happens("a yield", held, permitYield(held, proposal(0), rounds[held]))
			case event == 3:
				happens("the leave", w.id, permitEnd(w.id, 0))
			case event == 4:
				happens("a permit elsewhere", w.id, permitSettle(w.id))
			case event == 5:
				tickets[w.id] = max(1, w.ticket+int64(r.IntN(40))-20)
				happens("placed", w.id, permitYield(w.id, final(tickets[w.id]), rounds[w.id]))
			case event == 6 && len(free) >= w.n:
				happens("a repair", w.id, permitRepair(w.id, lua.SlotsOf(free[len(free)-w.n:])))
			case event == 7 && len(free) >= w.n:
				asks(w.id, lua.SlotsOf(free[len(free)-w.n:]))
			case event == 8: // as most nodes had it farther behind
				tickets[w.id] = w.ticket + int64(r.IntN(40))
				asks(w.id, "")
			case event == 9 && held != "":
				_, has, _ := strings.Cut(f.slots(held), " ")
				n, highest := len(lua.Slots(has).List()), f.vacancies(total)
				if len(highest) >= n {
					asks(held, lua.SlotsOf(highest[len(highest)-n:]))
				}
			case event == 10 && r.IntN(3) == 0: // some have died by then
				f.pass(line.Life / 3)
				for _, w := range waiting {
					if r.IntN(4) > 0 {
						f.run(permitBeat(w.id))
					}
				}
			default:
				asks(w.id, "")
			}
		}
	}
}

// beat lets so much time go by, in which those that wait give signs of life.
func (f *frozen) beat(d time.Duration, waiters ...string) {
	for ; d > 0; d -= life / 2 {
		f.run(permitBeat(waiters...))
		f.pass(min(d, life/2))
	}
}

// Whoever finds permits whose time is over tells those who can have them, whatever else it came for.
func TestWhoeverFindsPermitsOverTellsThoseWhoCanHaveThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]lua.Call{
		"extension":   permitExtend(one2, ttl, "2"),
		"restoration": permitRestore(one2, 1<<52, "2"),
		"repair":      permitRepair(one2, "2"),
		"keep":        permitKeep(one2, longer),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(permitTry(two), permitCall(one2, longer).Call(), permitAsk(one, proposal(0), 1), permitAsk(one3, proposal(0), 1))
			f.beat(ttl, one, one3)
			require.Equal(t, []string{message(one, one2+" found"), message(one3, one2+" found")}, f.told(c))
		})
	}
}

// Who had all permits and has died leaves a trace for as long as it takes: whoever finds it tells those who can come,
// whether it comes in itself or leaves.
func TestOneThatHadAllPermitsAndDiedIsFound(t *testing.T) {
	t.Parallel()
	const last, other = "c:1p2/3", "e:1p1/3"
	for name, c := range map[string]struct {
		call lua.Call
		told []string
	}{
		"the first one in":            {permitAsk(one, final(1), 2), []string{message(one2, one+" asked")}},
		"one that leaves":             {permitEnd(last, 0), []string{message(one, last), message(one2, last)}},
		"one that others have let in": {permitSettle(last), []string{message(one, last+" settled"), message(one2, last+" settled")}},
		"extension of another":        {permitExtend(other, ttl, "2"), []string{message(one, other+" found"), message(one2, other+" found")}},
		"restoration of another":      {permitRestore(other, 1<<52, "2"), []string{message(one, other+" found"), message(one2, other+" found")}},
		"repair of another":           {permitRepair(other, "2"), []string{message(one, other+" found"), message(one2, other+" found")}},
		"keep of another":             {permitKeep(other, longer), []string{message(one, other+" found"), message(one2, other+" found")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(permitTry(all), permitAsk(one, proposal(0), 1), permitAsk(one2, proposal(0), 1), permitAsk(last, proposal(0), 1))
			f.beat(ttl, one, one2, last)
			require.Equal(t, c.told, f.told(c.call))
		})
	}
}
