package lua_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// The calls of the tests here: mine is about the hold that a test follows, others compete
// with it.
const (
	mine, other, third = "a:1", "b:1", "c:1"

	ttl, longer, kept, life, marked = time.Minute, 2 * time.Minute, time.Hour, 4 * time.Second, 10 * time.Second
)

var (
	orders = func() lua.Keys {
		keys, err := lua.NewKeys("lock", "orders")
		if err != nil {
			panic(err)
		}
		return keys
	}()
	line = lua.Fair{Keys: orders, Channel: lua.ClientChannels("lock"), Life: life, Alone: true}
)

func take(hold string, ttl time.Duration) lua.Call {
	return lua.Acquire{Keys: orders, Hold: hold, TTL: ttl, Retention: kept}.Call()
}

func end(hold string, mark time.Duration) lua.Call {
	return lua.Release{Keys: orders, Hold: hold, Mark: mark}.Call()
}

func extend(hold string, ttl time.Duration, token int64) lua.Call {
	return lua.Extend{Keys: orders, Hold: hold, Count: 1, TTL: ttl, Token: token, Retention: kept}.Call()
}

func fence(hold string, token int64) lua.Call {
	return lua.Fence{Keys: orders, Hold: hold, Token: token, Retention: kept}.Call()
}

func reserve(hold string, last int64) lua.Call {
	return lua.Reserve{Keys: orders, Hold: hold, Last: last, Retention: kept}.Call()
}

func restore(hold string, token int64) lua.Call {
	return lua.Restore{Keys: orders, Hold: hold, Count: 1, TTL: ttl, Token: token, Retention: kept, Uptime: time.Second, Queued: true}.Call()
}

// undo ends a hold of which there was no lease.
func undo(hold string) lua.Call {
	return lua.Release{Keys: orders, Hold: hold, Undo: true}.Call()
}

func leaveUndone(hold string) lua.Call {
	return lua.FairRelease{Fair: line, Hold: hold, Undo: true}.Call()
}

func fenceRound(hold string, token, round int64) lua.Call {
	return lua.Fence{Keys: orders, Hold: hold, Token: token, Retention: kept, Round: round}.Call()
}

func endNoted(hold string) lua.Call {
	return lua.Release{Keys: orders, Hold: hold, Noted: true}.Call()
}

// leaveAll ends a hold, and the waits of those that were served within it.
func leaveAll(hold string, served ...string) lua.Call {
	return lua.FairRelease{Fair: line, Hold: hold, Served: served}.Call()
}

// leaveAgain is sent after a part of it.
func leaveAgain(hold string) lua.Call {
	return lua.FairRelease{Fair: line, Hold: hold, Again: true}.Call()
}

func leaveNoted(hold string) lua.Call {
	return lua.FairRelease{Fair: line, Hold: hold, Noted: true}.Call()
}

func keep(hold string, d time.Duration) lua.Call {
	return lua.Keep{Fair: lua.Fair{Keys: orders}, Hold: hold, For: d}.Call()
}

// keepVoid is a keep that marks the hold as void.
func keepVoid(hold string) lua.Call {
	return lua.Keep{Fair: lua.Fair{Keys: orders}, Hold: hold, For: time.Second, Mark: marked}.Call()
}

// note writes a note of the hold.
func note(hold, text string) lua.Call {
	return lua.Note{Keys: orders, Hold: hold, Text: text, Age: time.Second, Life: kept}.Call()
}

func extendNoted(ttl time.Duration) lua.Call {
	return lua.Extend{Keys: orders, Hold: mine, Count: 1, TTL: ttl, Token: 1, Retention: kept, Noted: true}.Call()
}

func repair(hold string, count int, token int64) lua.Call {
	return lua.Repair{Keys: orders, Hold: hold, Count: count, TTL: ttl, Token: token, Retention: kept}.Call()
}

// ask is a queuer's, with the ticket as it is known in that round.
func ask(hold string, ticket lua.Ticket, round int64) lua.Call {
	return lua.FairAcquire{Fair: line, Hold: hold, TTL: ttl, Retention: kept, Wait: true, Ticket: ticket, Round: round}.Call()
}

// try is that of a fair lock's caller who does not wait.
func try(hold string) lua.Call {
	return lua.FairAcquire{Fair: line, Hold: hold, TTL: ttl, Retention: kept}.Call()
}

func leave(hold string, mark time.Duration) lua.Call {
	return lua.FairRelease{Fair: line, Hold: hold, Mark: mark}.Call()
}

func yield(hold string, ticket lua.Ticket, round int64) lua.Call {
	return lua.FairYield{Fair: line, Hold: hold, Ticket: ticket, Round: round}.Call()
}

func settle(hold string) lua.Call { return lua.FairSettle{Fair: line, Hold: hold}.Call() }

func beat(holds ...string) lua.Call {
	return lua.FairBeat{Fair: line, Name: "beat", Holds: holds}.Call()
}

var deaf = lua.Deaf{Keys: orders, Life: time.Second}.Call()

func far(mark string) lua.Call {
	return lua.Far{Keys: orders, Life: time.Second, FarMark: lua.FarMark{ID: mark, Chance: time.Millisecond}}.Call()
}

func calls(c ...lua.Call) []lua.Call { return c }

func proposal(n int64) lua.Ticket { return lua.Ticket{Number: n} }
func final(n int64) lua.Ticket    { return lua.Ticket{Number: n, Final: true} }

// A repeated is a call that comes again, or late, after others.
type repeated struct {
	before []lua.Call
	call   lua.Call
}

// requireCaseOfEach requires a case for each script whose header says what happens then. Those
// of a batch are its calls', and miniredis runs none.
func requireCaseOfEach(t *testing.T, says string, cases map[string]repeated) {
	t.Helper()
	said := make(map[string]bool)
	for _, c := range cases {
		said[c.call.Script().Name] = true
	}
	files, err := filepath.Glob("*.lua")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.TrimSuffix(file, ".lua")
		if name != "batch" && strings.Contains(string(source), "\n-- "+says+":") {
			require.True(t, said[name], "%s.lua says what it does: %s", name, says)
		}
	}
}

// What a network delivers twice changes no more than once: no key, no count, no date (I4).
func TestACallThatRunsTwiceChangesWhatItChangesOnce(t *testing.T) {
	t.Parallel()
	queue := calls(ask(other, proposal(0), 1), ask(mine, proposal(0), 1), ask(third, proposal(0), 1))
	free := append(slices.Clone(queue), leave(other, 0))
	cases := map[string]repeated{
		"acquire":                       {nil, take(mine, ttl)},
		"acquire, a longer TTL":         {calls(take(mine, ttl)), take(mine, longer)},
		"acquire, refused":              {calls(take(other, ttl)), take(mine, longer)},
		"release":                       {calls(take(mine, ttl)), end(mine, 0)},
		"release with a mark":           {calls(take(mine, ttl)), end(mine, marked)},
		"extend":                        {calls(take(mine, ttl)), extend(mine, longer, 1)},
		"extend of a granted queuer":    {calls(ask(mine, proposal(0), 1)), lua.Extend{Keys: orders, Hold: mine, Count: 1, TTL: longer, Token: 1, Retention: kept, Queued: true}.Call()},
		"extend with a note":            {calls(take(mine, ttl), note(mine, "nightly export")), extendNoted(longer)},
		"extend of two leases":          {calls(take(mine, ttl)), lua.Extend{Keys: orders, Hold: mine, Count: 2, TTL: longer, Token: 1, Retention: kept}.Call()},
		"fence":                         {calls(take(mine, ttl)), fence(mine, 1<<52)},
		"reserve":                       {calls(take(mine, ttl)), reserve(mine, 1<<52)},
		"repair":                        {nil, repair(mine, 2, 7)},
		"restore":                       {calls(take(other, ttl), end(other, 0)), restore(mine, 1<<52)},
		"restore, where it is":          {calls(take(mine, ttl)), restore(mine, 1<<52)},
		"release, undone":               {calls(take(mine, ttl)), undo(mine)},
		"fair_release, undone":          {calls(ask(mine, proposal(0), 1)), leaveUndone(mine)},
		"fence of a round":              {calls(ask(mine, proposal(0), 1)), fenceRound(mine, 1<<52, 2)},
		"force":                         {calls(take(mine, ttl)), lua.Force{Keys: orders, Hold: mine, Life: marked}.Call()},
		"deaf":                          {calls(take(mine, ttl)), deaf},
		"deaf, when nobody has it":      {nil, deaf},
		"far":                           {calls(take(mine, ttl)), far(mine)},
		"far, when nobody has it":       {nil, far(mine)},
		"reserve, somebody is far":      {calls(take(mine, ttl), far(other)), reserve(mine, 1<<52)},
		"reserve, somebody is deaf":     {calls(take(mine, ttl), deaf), reserve(mine, 1<<52)},
		"acquire, somebody is far":      {calls(far(other)), take(mine, ttl)},
		"acquire, somebody is deaf":     {calls(deaf), take(mine, ttl)},
		"forced":                        {calls(take(mine, ttl)), lua.Forced{Keys: orders, Hold: mine}.Call()},
		"extend, ended by force":        {calls(take(mine, ttl), lua.Force{Keys: orders, Hold: mine, Life: marked}.Call(), end(mine, 0)), extend(mine, longer, 1)},
		"inspect":                       {free, lua.Inspect{Keys: orders}.Call()},
		"server":                        {queue, lua.Server{Keys: orders}.Call()},
		"probe":                         {queue, lua.Probe{}.Call()},
		"ready":                         {queue, lua.Ready{Keys: orders}.Call()},
		"keep":                          {calls(take(mine, ttl)), keep(mine, time.Second)},
		"note":                          {calls(take(mine, ttl)), note(mine, "nightly export")},
		"release with a note":           {calls(take(mine, ttl), note(mine, "nightly export")), endNoted(mine)},
		"fair_release with a note":      {calls(ask(mine, proposal(0), 1), note(mine, "nightly export")), leaveNoted(mine)},
		"holds":                         {calls(take(mine, ttl)), lua.Holds{Keys: orders, Hold: mine}.Call()},
		"fair_acquire":                  {nil, ask(mine, proposal(0), 1)},
		"fair_acquire, no wait":         {nil, try(mine)},
		"fair_acquire, a place":         {calls(ask(other, proposal(0), 1)), ask(mine, proposal(0), 1)},
		"fair_acquire, a greater place": {queue, ask(mine, proposal(9), 1)},
		"fair_acquire, a final place":   {queue, ask(mine, final(9), 1)},
		"fair_acquire, its turn":        {free, ask(mine, final(1), 2)},
		"fair_acquire, again its turn":  {append(slices.Clone(free), ask(mine, final(1), 2)), ask(mine, final(1), 3)},
		"fair_release":                  {append(slices.Clone(free), ask(mine, final(1), 2)), leave(mine, 0)},
		"fair_release with a mark":      {append(slices.Clone(free), ask(mine, final(1), 2)), leave(mine, marked)},
		"fair_release of a place":       {queue, leave(mine, 0)},
		"fair_release of a part before": {queue, leaveAgain("holder:1")},
		"fair_release of those served":  {append(slices.Clone(queue), ask(other, proposal(0), 1)), leaveAll("holder:1", mine, other)},
		"fair_yield":                    {append(slices.Clone(free), ask(mine, final(1), 2)), yield(mine, final(1), 2)},
		"fair_yield of a proposal":      {calls(ask(mine, proposal(0), 1)), yield(mine, proposal(3), 1)},
		"fair_yield states a ticket":    {queue, yield(mine, final(9), 1)},
		"fair_settle":                   {queue, settle(mine)},
		"fair_beat":                     {queue, beat(mine, third)},
	}
	maps.Copy(cases, rwTwice())
	maps.Copy(cases, permitTwice())
	requireCaseOfEach(t, "Twice", cases)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.before...)
			first := f.run(c.call)
			once := f.contents()
			second := f.run(c.call)
			require.Equal(t, once, f.contents())
			if token, ok := first.(int64); ok && token > 2 { // no other answer is as great
				require.Equal(t, first, second, "the same token")
			}
		})
	}
}

// What a network delivers late finds nothing of its own, and so changes nothing (I4): late is
// after what a program may have done since.
func TestACallThatComesLateChangesNothing(t *testing.T) {
	t.Parallel()
	cases := map[string]repeated{
		"force, after the end of the hold":                   {calls(take(mine, ttl), lua.Force{Keys: orders, Hold: mine, Life: marked}.Call(), end(mine, 0)), lua.Force{Keys: orders, Hold: mine, Life: marked}.Call()},
		"acquire, after the release":                         {calls(take(mine, ttl), end(mine, marked)), take(mine, ttl)},
		"acquire, after the release before it":               {calls(end(mine, marked)), take(mine, ttl)},
		"acquire, when another has it":                       {calls(end(mine, marked), take(other, ttl)), take(mine, longer)},
		"acquire, after an extension":                        {calls(take(mine, ttl), extend(mine, longer, 1)), take(mine, ttl)},
		"release, when another has it":                       {calls(take(mine, ttl), end(mine, 0), take(other, ttl)), end(mine, 0)},
		"extend, after the release":                          {calls(take(mine, ttl), end(mine, 0)), extend(mine, longer, 1<<52)},
		"extend, when another has it":                        {calls(take(mine, ttl), end(mine, 0), take(other, ttl)), extend(mine, longer, 1<<52)},
		"extend, after a longer one":                         {calls(take(mine, ttl), extend(mine, longer, 1)), extend(mine, ttl, 1)},
		"extend with a note, after a longer one":             {calls(take(mine, ttl), note(mine, "x"), extendNoted(longer)), extendNoted(ttl)},
		"extend, with a counter that has grown":              {calls(take(mine, ttl), fence(mine, 1<<52)), extend(mine, ttl, 7)},
		"fence, after the release":                           {calls(take(mine, ttl), end(mine, 0)), fence(mine, 1<<52)},
		"fence, when another has it":                         {calls(take(mine, ttl), end(mine, 0), take(other, ttl)), fence(mine, 1<<52)},
		"fence, with nothing there":                          {nil, fence(mine, 1<<52)},
		"fence, after a greater one":                         {calls(take(mine, ttl), fence(mine, 1<<52)), fence(mine, 1<<51)},
		"reserve, after the release":                         {calls(take(mine, ttl), end(mine, 0)), reserve(mine, 1<<52)},
		"reserve, when another has it":                       {calls(take(mine, ttl), end(mine, 0), take(other, ttl)), reserve(mine, 1<<52)},
		"far, after a newer one":                             {calls(far("a:10")), far("a:9")},
		"deaf, after the release":                            {calls(take(mine, ttl), end(mine, 0)), deaf},
		"reserve, with nothing there":                        {nil, reserve(mine, 1<<52)},
		"reserve, after a greater one":                       {calls(take(mine, ttl), reserve(mine, 1<<52)), reserve(mine, 1<<51)},
		"restore, after the release":                         {calls(take(mine, ttl), end(mine, marked)), restore(mine, 1<<52)},
		"restore, when another has it":                       {calls(take(other, ttl)), restore(mine, 1<<52)},
		"restore, when another had it":                       {calls(take(mine, ttl), end(mine, 0), take(other, ttl), end(other, 0)), restore(mine, 1)},
		"release, undone, when another has it":               {calls(take(mine, ttl), undo(mine), take(other, ttl)), undo(mine)},
		"fence of a round, after a yield of it":              {calls(ask(other, proposal(0), 1), ask(mine, proposal(0), 1)), fenceRound(mine, 1<<52, 2)},
		"fair_yield, after a later round's fence":            {calls(ask(mine, proposal(0), 1), fenceRound(mine, 1<<52, 2)), yield(mine, final(1), 1)},
		"ready, when it is held":                             {calls(take(mine, ttl)), lua.Ready{Keys: orders}.Call()},
		"keep, after the release":                            {calls(take(mine, ttl), end(mine, 0)), keep(mine, time.Second)},
		"keep, when another has it":                          {calls(take(mine, ttl), end(mine, 0), take(other, ttl)), keep(mine, time.Second)},
		"keep, after one that is shorter":                    {calls(take(mine, ttl), keep(mine, time.Second)), keep(mine, 2*time.Second)},
		"extend, after a keep":                               {calls(take(mine, ttl), keep(mine, time.Second)), extend(mine, longer, 1<<52)},
		"acquire, after a keep":                              {calls(take(mine, ttl), keep(mine, time.Second)), take(mine, ttl)},
		"acquire, after a keep that found nothing":           {calls(keepVoid(mine)), take(mine, ttl)},
		"acquire, after a keep that voids it":                {calls(take(mine, ttl), keepVoid(mine)), take(mine, ttl)},
		"repair, after a keep that found nothing":            {calls(keepVoid(mine)), repair(mine, 1, 1<<52)},
		"fair_acquire, after a keep that found nothing":      {calls(keepVoid(mine)), ask(mine, proposal(0), 1)},
		"restore, after a keep":                              {calls(take(mine, ttl), keep(mine, time.Second)), restore(mine, 1<<52)},
		"release, after a keep":                              {calls(take(mine, ttl), keep(mine, time.Second)), end(mine, 0)},
		"note, after the release":                            {calls(take(mine, ttl), end(mine, 0)), note(mine, "nightly export")},
		"note, when another has it":                          {calls(take(mine, ttl), end(mine, 0), take(other, ttl), note(other, "import")), note(mine, "nightly export")},
		"release with a note, when another has it":           {calls(take(mine, ttl), endNoted(mine), take(other, ttl), note(other, "import")), endNoted(mine)},
		"fair_release with a note, when another has it":      {calls(try(mine), leaveNoted(mine), try(other), note(other, "import")), leaveNoted(mine)},
		"repair, after the release":                          {calls(take(mine, ttl), end(mine, marked)), repair(mine, 1, 1<<52)},
		"repair, when another has it":                        {calls(take(other, ttl)), repair(mine, 1, 1<<52)},
		"repair, where it is":                                {calls(take(mine, longer)), repair(mine, 1, 7)},
		"fair_acquire, after the release":                    {calls(ask(mine, proposal(0), 1), leave(mine, marked)), ask(mine, proposal(0), 1)},
		"fair_acquire, after the leave":                      {calls(try(other), ask(mine, proposal(0), 1), leave(mine, marked)), ask(mine, final(1), 2)},
		"fair_acquire, after the leave, with a queue":        {calls(try(other), ask(mine, proposal(0), 1), ask(third, proposal(0), 1), leave(mine, marked)), ask(mine, final(1), 2)},
		"fair_acquire, after the release, with a queue":      {calls(ask(mine, proposal(0), 1), ask(third, proposal(0), 1), leave(mine, marked)), ask(mine, proposal(0), 1)},
		"fair_acquire, of an earlier round":                  {calls(ask(mine, proposal(0), 2)), ask(mine, proposal(0), 1)},
		"fair_acquire, a proposal after the final one":       {calls(try(other), ask(mine, final(9), 2)), ask(mine, proposal(8), 1)},
		"fair_release of a part before, when another has it": {calls(try(mine), ask(other, proposal(0), 1), leave(mine, 0), ask(other, final(1), 2), ask(third, proposal(0), 1)), leaveAgain(mine)},
		"fair_release, when another has it":                  {calls(try(mine), ask(other, proposal(0), 1), leave(mine, 0), ask(other, final(1), 2), ask(third, proposal(0), 1)), leave(mine, 0)},
		"fair_yield, when a later round has it":              {calls(ask(mine, proposal(0), 1), ask(mine, proposal(0), 2)), yield(mine, final(1), 1)},
		"fair_yield, after the release":                      {calls(ask(mine, proposal(0), 1), leave(mine, 0)), yield(mine, final(1), 1)},
		"fair_yield, when another has it":                    {calls(ask(mine, proposal(0), 1), leave(mine, 0), try(other)), yield(mine, final(1), 1)},
		"fair_yield, a proposal for who waits":               {calls(try(other), ask(mine, proposal(0), 1)), yield(mine, proposal(9), 1)},
		"fair_settle, when others wait":                      {calls(try(other), ask(mine, proposal(0), 1), ask(third, proposal(0), 1), settle(mine)), settle(mine)},
		"fair_settle, when it was granted":                   {calls(try(mine), ask(third, proposal(0), 1)), settle(mine)},
		"fair_beat, after the leave":                         {calls(try(other), ask(mine, proposal(0), 1), leave(mine, 0)), beat(mine)},
		"fair_beat, after the leave of one of two":           {calls(try(other), ask(mine, proposal(0), 1), ask(third, proposal(0), 1), leave(mine, 0)), beat(mine)},
	}
	maps.Copy(cases, rwLate())
	maps.Copy(cases, permitLate())
	requireCaseOfEach(t, "Late", cases)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(c.before...)
			before := f.contents()
			f.heard()
			f.run(c.call)
			require.Equal(t, before, f.contents())
			require.Empty(t, f.heard(), "nobody is told of what did not happen")
		})
	}
}
