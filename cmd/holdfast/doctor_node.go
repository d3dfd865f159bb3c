package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/cluster"
)

const (
	pings       = 21
	pingTimeout = 3 * time.Second
	farClock    = 1000 // milliseconds

	notKnown = "not known"
)

// A nodeExam is what was found out about one server. What is not known is left out.
type nodeExam struct {
	Server         string     `json:"server"`  // as it was given
	Address        string     `json:"address"` // of the server itself, which of a Cluster is one of its masters
	Reachable      bool       `json:"reachable"`
	RoundTrip      *roundTrip `json:"roundTripMs,omitempty"`
	Version        string     `json:"version,omitempty"`
	Role           string     `json:"role,omitempty"`
	Uptime         int64      `json:"uptimeSeconds,omitempty"`
	ClockOffset    *float64   `json:"clockOffsetMs,omitempty"` // positive: it is ahead of this machine's
	AppendOnly     string     `json:"appendOnly,omitempty"`
	AppendFsync    string     `json:"appendFsync,omitempty"`
	MaxMemory      *int64     `json:"maxMemory,omitempty"` // 0: there is no limit
	EvictionPolicy string     `json:"evictionPolicy,omitempty"`
	Findings       []finding  `json:"findings"`

	grants bool // a lock was taken and given back
}

type roundTrip struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func (r *roundTrip) words() string {
	if r == nil {
		return notKnown
	}
	return fmt.Sprintf("%.1f/%.1f/%.1fms", r.Min, r.Median, r.Max)
}

func (e *nodeExam) find(level, format string, args ...any) {
	e.Findings = append(e.Findings, finding{level, fmt.Sprintf(format, args...)})
}

// isWrong reports whether something is wrong with the server.
func (e *nodeExam) isWrong() bool {
	return slices.ContainsFunc(e.Findings, func(f finding) bool { return f.Level == wrong })
}

// durable tells whether the server has after a restart what it acknowledged before.
func (e *nodeExam) durable() bool { return e.AppendOnly == "yes" && e.AppendFsync == "always" }

func (e *nodeExam) persistence() string {
	switch e.AppendOnly {
	case "yes":
		return "appendfsync " + cmp.Or(e.AppendFsync, notKnown)
	case "no":
		return "no appendonly"
	default:
		return notKnown
	}
}

func (e *nodeExam) clock() string {
	if e.ClockOffset == nil {
		return notKnown
	}
	return fmt.Sprintf("%+.1fms", *e.ClockOffset)
}

func (e *nodeExam) uptime() string {
	if e.Uptime == 0 {
		return notKnown
	}
	return (time.Duration(e.Uptime) * time.Second).String()
}

// examineServer examines a server, or each master of a Cluster.
func (a *app) examineServer(ctx context.Context, s server) []*nodeExam {
	var exams []*nodeExam
	switch c := s.client.(type) {
	case *redis.Client:
		e := &nodeExam{Server: s.name, Address: s.name, Findings: []finding{}}
		once := impatient(c)
		defer once.Close()
		if address := c.Options().Addr; address != "FailoverClient" {
			e.Address = address
		}
		if e.examine(ctx, once) {
			a.tryBriefly(ctx, s, e)
		}
		exams = []*nodeExam{e}
	case *redis.ClusterClient:
		bound, cancel := context.WithTimeout(ctx, 2*pingTimeout) // for which masters there are, and for one that is silent
		defer cancel()
		masters, err := cluster.Masters(bound, c)
		if len(masters) == 0 {
			e := &nodeExam{Server: s.name, Address: s.name, Findings: []finding{}}
			e.find(wrong, "the Cluster cannot be reached: %v", err)
			return []*nodeExam{e}
		}
		exams = make([]*nodeExam, len(masters))
		var all sync.WaitGroup
		for i, master := range masters {
			e := &nodeExam{Server: s.name, Address: master.Options().Addr, Findings: []finding{}}
			exams[i] = e
			all.Go(func() {
				if e.examine(bound, master) {
					a.tryBriefly(ctx, s, e) // each of its own: rights and memory are not the same everywhere
				} else {
					e.find(wrong, "the names in its slots cannot be locked")
				}
			})
		}
		all.Wait()
		slices.SortFunc(exams, func(a, b *nodeExam) int { return cmp.Compare(a.Address, b.Address) })
	}
	return exams
}

// impatient is a client of the same server that tries once, so that what it tells is about one try, and for no longer than it
// is given.
func impatient(c *redis.Client) *redis.Client {
	o := *c.Options()
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled = -1, 1, true
	return redis.NewClient(&o)
}

// examine asks one server. It tells whether that answers.
func (e *nodeExam) examine(ctx context.Context, c *redis.Client) bool {
	if err := e.time(ctx, c); err != nil {
		e.find(wrong, "it cannot be reached: %v", err)
		return false
	}
	e.Reachable = true
	e.info(ctx, c)
	if e.ClockOffset != nil && math.Abs(*e.ClockOffset) > farClock {
		e.find(advice, "its clock differs from this machine's by %.1f s. Locks do not depend on it, but the times shown to people do", math.Abs(*e.ClockOffset)/1000)
	}
	if e.Role != "" && e.Role != "master" {
		e.find(wrong, "it is a %s: locks need a master", e.Role)
	}
	if e.EvictionPolicy != "" && e.EvictionPolicy != "noeviction" {
		e.evicts()
	}
	return true
}

// evicts tells of a policy by which a lock can vanish.
func (e *nodeExam) evicts() {
	if e.MaxMemory == nil || *e.MaxMemory == 0 {
		e.find(advice, "maxmemory-policy is %s: with a maxmemory, it would evict locks", e.EvictionPolicy)
		return
	}
	e.find(wrong, "maxmemory-policy is %s: when the memory is full, locks that are held are evicted. Set noeviction", e.EvictionPolicy)
}

// time measures round trips and the clock, unless the server tells this user no time. The answer with the shortest round
// trip tells the clock best: the server read it about halfway.
func (e *nodeExam) time(ctx context.Context, c *redis.Client) error {
	// The connection is there afterwards, and is not measured.
	err := within(ctx, func(ctx context.Context) error { return c.Ping(ctx).Err() })
	if err != nil && !redis.IsPermissionError(err) {
		return err
	}
	var trips []time.Duration
	for range pings {
		begin := time.Now()
		var there time.Time
		err := within(ctx, func(ctx context.Context) (err error) {
			there, err = c.Time(ctx).Result()
			return err
		})
		if redis.IsPermissionError(err) {
			e.find(wrong, "it refuses TIME, which the scripts of locks ask for: %v", err)
			return nil
		}
		if err != nil {
			return err
		}
		trip := time.Since(begin)
		if len(trips) == 0 || trip < slices.Min(trips) {
			e.ClockOffset = new(ms(there.Sub(begin.Add(trip / 2))))
		}
		trips = append(trips, trip)
	}
	slices.Sort(trips)
	e.RoundTrip = &roundTrip{ms(trips[0]), ms(trips[len(trips)/2]), ms(trips[len(trips)-1])}
	return nil
}

// within bounds one command.
func within(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return fn(ctx)
}

// ms is d in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// info reads what the server tells about itself.
func (e *nodeExam) info(ctx context.Context, c *redis.Client) {
	var text string
	if err := within(ctx, func(ctx context.Context) (err error) {
		text, err = c.Info(ctx).Result()
		return err
	}); err != nil {
		e.find(advice, "INFO is refused, so its settings are not known: %v", err)
		return
	}
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	e.Version = "Redis " + fields["redis_version"]
	if v := fields["valkey_version"]; v != "" {
		e.Version = "Valkey " + v
	}
	e.Role, e.EvictionPolicy = fields["role"], fields["maxmemory_policy"]
	e.Uptime, _ = strconv.ParseInt(fields["uptime_in_seconds"], 10, 64) // 0: not known
	if most, err := strconv.ParseInt(fields["maxmemory"], 10, 64); err == nil {
		e.MaxMemory = &most
	}
	switch fields["aof_enabled"] {
	case "1":
		e.AppendOnly = "yes"
	case "0":
		e.AppendOnly = "no"
	}
	// Many users may not read the configuration; then it is not known.
	_ = within(ctx, func(ctx context.Context) error {
		settings, err := c.ConfigGet(ctx, "appendfsync").Result()
		e.AppendFsync = settings["appendfsync"]
		return err
	})
}
