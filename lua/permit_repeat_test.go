package lua_test

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// Holds of a semaphore tell by their ids how many of how many permits they want.
const (
	one, one2, one3 = "a:1p1/3", "b:1p1/3", "c:1p1/3"
	two, two2       = "a:2p2/3", "b:2p2/3"
	all             = "d:1p3/3"
)

var permit = lua.Permit{Fair: line}

func permitCall(hold string, d time.Duration) lua.PermitAcquire {
	return lua.PermitAcquire{Permit: permit, Hold: hold, TTL: d, Retention: kept}
}

func permitTry(hold string) lua.Call { return permitCall(hold, ttl).Call() }

func permitAsk(hold string, ticket lua.Ticket, round int64) lua.Call {
	return permitAskFor(hold, ticket, round, "")
}

func permitAskFor(hold string, ticket lua.Ticket, round int64, slots lua.Slots) lua.Call {
	a := permitCall(hold, ttl)
	a.Wait, a.Ticket, a.Round, a.Slots = true, ticket, round, slots
	return a.Call()
}

func permitEnd(hold string, mark time.Duration) lua.Call {
	return lua.PermitRelease{Permit: permit, Hold: hold, Mark: mark}.Call()
}

func permitYield(hold string, ticket lua.Ticket, round int64) lua.Call {
	return lua.PermitYield{Permit: permit, Hold: hold, Ticket: ticket, Round: round}.Call()
}

func permitSettle(hold string) lua.Call { return lua.PermitSettle{Permit: permit, Hold: hold}.Call() }

func permitBeat(holds ...string) lua.Call {
	return lua.PermitBeat{Permit: permit, Name: "beat", Holds: holds}.Call()
}

func permitHeld(hold string, d time.Duration, token int64, slots lua.Slots) lua.PermitExtend {
	return lua.PermitExtend{Permit: permit, Hold: hold, Count: 1, TTL: d, Token: token, Retention: kept, Slots: slots}
}

func permitExtend(hold string, d time.Duration, slots lua.Slots) lua.Call {
	return permitHeld(hold, d, 7, slots).Call()
}

func permitRestore(hold string, token int64, slots lua.Slots) lua.Call {
	return lua.PermitRestore{PermitExtend: permitHeld(hold, ttl, token, slots), Uptime: time.Second}.Call()
}

func permitRepair(hold string, slots lua.Slots) lua.Call {
	return lua.PermitRepair{PermitExtend: permitHeld(hold, ttl, 1<<52, slots)}.Call()
}

func permitKeep(hold string, d time.Duration) lua.Call {
	return lua.PermitKeep{Permit: permit, Hold: hold, For: d}.Call()
}

func permitKeepVoid(hold string) lua.Call {
	return lua.PermitKeep{Permit: permit, Hold: hold, For: time.Second, Mark: marked}.Call()
}

func permitFence(hold string, token int64, slots lua.Slots) lua.Call {
	return lua.PermitFence{Permit: permit, Hold: hold, Token: token, Retention: kept, Slots: slots, Round: 2}.Call()
}

func permitReserve(hold string, after, last int64, slots lua.Slots) lua.Call {
	return lua.PermitReserve{Permit: permit, Hold: hold, Slots: slots, After: after, Last: last, Retention: kept}.Call()
}

func permitNote(hold string) lua.Call {
	return lua.PermitNote{Permit: permit, Hold: hold, Label: "web-3", Text: "export", Age: time.Second}.Call()
}

// permitTwice are the cases of the semaphore for what comes twice.
func permitTwice() map[string]repeated {
	// All permits are taken; behind them wait one for two, one for one, one for all.
	queue := calls(permitTry(all), permitAsk(two, proposal(0), 1), permitAsk(one, proposal(0), 1), permitAsk(one2, proposal(0), 1))
	free := slices.Concat(queue, calls(permitEnd(all, 0)))
	return map[string]repeated{
		"permit_acquire":                         {nil, permitTry(two)},
		"permit_acquire, with others":            {calls(permitTry(one2)), permitTry(two)},
		"permit_acquire, for longer":             {calls(permitTry(two)), permitCall(two, longer).Call()},
		"permit_acquire, refused":                {calls(permitTry(two2)), permitTry(two)},
		"permit_acquire, a place":                {calls(permitTry(all)), permitAsk(one, proposal(0), 1)},
		"permit_acquire, a final place":          {queue, permitAsk(one, final(9), 2)},
		"permit_acquire, its turn":               {free, permitAsk(two, final(1), 2)},
		"permit_acquire, its turn, not the head": {free, permitAsk(one, final(2), 2)},
		"permit_acquire, by name":                {nil, permitAskFor(one, proposal(0), 1, "2")},
		"permit_acquire, other slots":            {calls(permitAsk(two, proposal(0), 1)), permitAskFor(two, proposal(0), 2, "1-2")},
		"permit_acquire, other slots, taken":     {calls(permitTry(one2), permitAsk(one, proposal(0), 1)), permitAskFor(one, proposal(0), 2, "0")},
		"permit_release":                         {queue, permitEnd(all, 0)},
		"permit_release with a mark":             {queue, permitEnd(all, marked)},
		"permit_release of one of two":           {calls(permitTry(one), permitTry(one2)), permitEnd(one, 0)},
		"permit_release of the last":             {calls(permitTry(one)), permitEnd(one, 0)},
		"permit_release of a place":              {queue, permitEnd(two, 0)},
		"permit_yield":                           {slices.Concat(free, calls(permitAsk(two, final(1), 2))), permitYield(two, final(1), 2)},
		"permit_yield of a proposal":             {calls(permitAsk(one, proposal(0), 1)), permitYield(one, proposal(3), 1)},
		"permit_yield states a ticket":           {queue, permitYield(one, final(9), 1)},
		"permit_settle":                          {queue, permitSettle(two)},
		"permit_beat":                            {queue, permitBeat(two, one)},
		"permit_beat, its turn":                  {free, permitBeat(two, one)},
		"permit_extend":                          {calls(permitTry(one2), permitTry(two)), permitExtend(two, longer, "1-2")},
		"permit_extend, other slots":             {calls(permitTry(one2), permitTry(two)), permitExtend(two, longer, "0-1")},
		"permit_restore":                         {calls(permitTry(one2)), permitRestore(two, 1<<52, "1-2")},
		"permit_restore, where it is":            {calls(permitTry(two)), permitRestore(two, 1<<52, "0-1")},
		"permit_repair":                          {calls(permitTry(one2)), permitRepair(two, "1-2")},
		"permit_repair, other slots":             {calls(permitTry(two)), permitRepair(two, "1-2")},
		"permit_repair, other slots, taken":      {calls(permitTry(one2), permitTry(one)), permitRepair(one, "0")},
		"permit_keep":                            {calls(permitTry(one2), permitTry(two)), permitKeep(two, time.Second)},
		"permit_fence":                           {calls(permitTry(two)), permitFence(two, 1<<52, "0-1")},
		"permit_reserve":                         {calls(permitTry(two)), permitReserve(two, 1<<51, 1<<52, "0-1")},
		"permit_reserve, of what was granted":    {calls(permitTry(two)), permitReserve(two, 1, 1<<52, "0-1")},
		"permit_note":                            {calls(permitTry(two)), permitNote(two)},
		"permit_inspect":                         {slices.Concat(free, calls(permitAsk(two, final(1), 2))), lua.PermitInspect{Permit: permit}.Call()},
	}
}

// permitLate are the cases of the semaphore for what comes late.
func permitLate() map[string]repeated {
	return map[string]repeated{
		"permit_acquire, after the release":               {calls(permitTry(two), permitEnd(two, marked)), permitTry(two)},
		"permit_acquire, after the leave":                 {calls(permitTry(all), permitAsk(one, proposal(0), 1), permitEnd(one, marked)), permitAsk(one, final(1), 2)},
		"permit_acquire, after an extension":              {calls(permitTry(two), permitExtend(two, longer, "0-1")), permitTry(two)},
		"permit_acquire, of an earlier round":             {calls(permitAsk(two, proposal(0), 2)), permitAskFor(two, proposal(0), 1, "1-2")},
		"permit_acquire, by name, after an extension":     {calls(permitAsk(two, proposal(0), 1), permitExtend(two, longer, "0-1")), permitAskFor(two, proposal(0), 9, "1-2")},
		"permit_acquire, a proposal after a final one":    {calls(permitTry(all), permitAsk(one, final(9), 2)), permitAsk(one, proposal(8), 1)},
		"permit_release, when another has its slots":      {calls(permitTry(two), permitEnd(two, 0), permitTry(two2)), permitEnd(two, 0)},
		"permit_release, when others wait":                {calls(permitTry(all), permitAsk(two, proposal(0), 1), permitEnd(one, 0)), permitEnd(one3, 0)},
		"permit_yield, when a later round has it":         {calls(permitAsk(two, proposal(0), 1), permitAsk(two, proposal(0), 2)), permitYield(two, final(1), 1)},
		"permit_yield, after a later round's fence":       {calls(permitAsk(two, proposal(0), 1), permitFence(two, 1<<52, "0-1")), permitYield(two, final(1), 1)},
		"permit_yield, after an extension":                {calls(permitAsk(two, proposal(0), 1), permitExtend(two, longer, "0-1")), permitYield(two, final(1), 1)},
		"permit_yield, when another has its slots":        {calls(permitAsk(two, proposal(0), 1), permitEnd(two, 0), permitTry(two2)), permitYield(two, final(1), 1)},
		"permit_settle, when it was granted":              {calls(permitTry(two), permitAsk(two2, proposal(0), 1)), permitSettle(two)},
		"permit_beat, after the leave":                    {calls(permitTry(all), permitAsk(one, proposal(0), 1), permitEnd(one, 0)), permitBeat(one)},
		"permit_extend, after the release":                {calls(permitTry(two), permitEnd(two, 0)), permitExtend(two, longer, "0-1")},
		"permit_extend, when another has its slots":       {calls(permitTry(two), permitEnd(two, 0), permitTry(two2)), permitExtend(two, longer, "0-1")},
		"permit_extend, after a longer one":               {calls(permitTry(two), permitExtend(two, longer, "0-1")), permitExtend(two, ttl, "0-1")},
		"permit_restore, after the release":               {calls(permitTry(one2), permitTry(two), permitEnd(two, marked)), permitRestore(two, 1<<52, "1-2")},
		"permit_restore, when another has a slot":         {calls(permitTry(one2)), permitRestore(two, 1<<52, "0-1")},
		"permit_restore, when another had one":            {calls(permitTry(one2), permitEnd(one2, 0)), permitRestore(two, 1, "0-1")},
		"permit_repair, after the release":                {calls(permitTry(one2), permitTry(two), permitEnd(two, marked)), permitRepair(two, "1-2")},
		"permit_repair, when another has a slot":          {calls(permitTry(one2)), permitRepair(two, "0-1")},
		"permit_keep, after the release":                  {calls(permitTry(two), permitEnd(two, 0)), permitKeep(two, time.Second)},
		"permit_keep, when others have them":              {calls(permitTry(two), permitEnd(two, 0), permitTry(one2)), permitKeep(two, time.Second)},
		"permit_keep, after one that is shorter":          {calls(permitTry(two), permitKeep(two, time.Second)), permitKeep(two, 2*time.Second)},
		"permit_acquire, after a keep that found nothing": {calls(permitKeepVoid(two)), permitTry(two)},
		"permit_acquire, after a keep that voids it":      {calls(permitTry(two), permitKeepVoid(two)), permitTry(two)},
		"permit_extend, after a keep":                     {calls(permitTry(two), permitKeep(two, time.Second)), permitExtend(two, longer, "0-1")},
		"permit_fence, after the release":                 {calls(permitTry(one2), permitTry(two), permitEnd(two, 0)), permitFence(two, 1<<52, "1-2")},
		"permit_fence, when it has other slots":           {calls(permitTry(two)), permitFence(two, 1<<52, "1-2")},
		"permit_fence, of a token that another may get":   {calls(permitTry(two), permitTry(one2), permitFence(one2, 1<<52, "2")), permitFence(two, 1<<52, "0-1")},
		"permit_reserve, after the release":               {calls(permitTry(one2), permitTry(two), permitEnd(two, 0)), permitReserve(two, 1<<51, 1<<52, "1-2")},
		"permit_reserve, when it has other slots":         {calls(permitTry(two)), permitReserve(two, 1<<51, 1<<52, "1-2")},
		"permit_reserve, of a token that another has":     {calls(permitTry(two), permitTry(one2), permitFence(one2, 1<<52, "2")), permitReserve(two, 1<<51, 1<<52+1, "0-1")},
		"permit_note, after the release":                  {calls(permitTry(one2), permitTry(two), permitEnd(two, 0)), permitNote(two)},
	}
}
