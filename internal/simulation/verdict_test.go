package simulation

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
)

// A paper is a lease that only says what it is told to.
type paper struct {
	token int64
	until time.Time
	err   error
}

func (p *paper) ID() string          { return "paper" }
func (p *paper) Token() int64        { return p.token }
func (p *paper) Deadline() time.Time { return p.until }
func (p *paper) Err() error          { return p.err }

// A judge that sees nothing would find every world a good one.
func TestTheJudgeSeesWhatIsBroken(t *testing.T) {
	lease := func(token int64) *paper { return &paper{token: token, until: time.Now().Add(time.Minute)} }
	grants := func(j *judge, h hold) {
		h.name = "a"
		j.granted(j.calls(0, false), []hold{h})
	}
	lost := errors.New("lost")
	for name, c := range map[string]struct {
		happens func(s *stage)
		broken  string // "": nothing is
	}{
		"two that write": {func(s *stage) {
			grants(s.judge, hold{lease: lease(1)})
			grants(s.judge, hold{lease: lease(2)})
		}, "two holders"},
		"one that reads, and one that writes": {func(s *stage) {
			grants(s.judge, hold{lease: lease(1), reads: true})
			grants(s.judge, hold{lease: lease(2)})
		}, "two holders"},
		"two that read": {func(s *stage) {
			grants(s.judge, hold{lease: lease(1), reads: true})
			grants(s.judge, hold{lease: lease(1), reads: true})
		}, ""},
		"two that have a slot": {func(s *stage) {
			grants(s.judge, hold{lease: lease(1), slots: []int{0, 3}})
			grants(s.judge, hold{lease: lease(2), slots: []int{3}})
		}, "two holders"},
		"two that have other slots": {func(s *stage) {
			grants(s.judge, hold{lease: lease(2), slots: []int{0, 3}})
			grants(s.judge, hold{lease: lease(1), slots: []int{1, 2}})
		}, ""},
		"one after the other": {func(s *stage) {
			h := hold{lease: lease(1), name: "a"}
			grants(s.judge, h)
			s.judge.gives([]hold{h}, time.Now(), false)
			grants(s.judge, hold{lease: lease(2)})
		}, ""},
		"one after the end of the other": {func(s *stage) {
			grants(s.judge, hold{lease: lease(1)})
			time.Sleep(2 * time.Minute)
			grants(s.judge, hold{lease: lease(2)})
		}, ""},
		"a token for the second time": {func(s *stage) {
			h := hold{lease: lease(1), name: "a"}
			grants(s.judge, h)
			s.judge.gives([]hold{h}, time.Now(), false)
			grants(s.judge, hold{lease: lease(1)})
		}, "a token that does not grow"},
		"a token for one that reads from before the last one that wrote": {func(s *stage) {
			h := hold{lease: lease(2), name: "a"}
			grants(s.judge, h)
			s.judge.gives([]hold{h}, time.Now(), false)
			grants(s.judge, hold{lease: lease(1), reads: true})
		}, "a token that does not grow"},
		"a token for a slot for the second time": {func(s *stage) {
			h := hold{lease: lease(1), name: "a", slots: []int{0}}
			grants(s.judge, h)
			s.judge.gives([]hold{h}, time.Now(), false)
			grants(s.judge, hold{lease: lease(1), slots: []int{0}})
		}, "a token that does not grow"},
		"a loss": {func(s *stage) {
			s.judge.gives([]hold{{lease: &paper{err: lost, until: time.Now().Add(time.Minute)}, name: "a"}}, time.Now().Add(-time.Second), false)
		}, "a loss without a fault"},
		"a loss after a fault": {func(s *stage) {
			time.Sleep(time.Second)
			s.judge.world.faults = []fault{{at: 500 * time.Millisecond}}
			s.judge.gives([]hold{{lease: &paper{err: lost, until: time.Now().Add(time.Minute)}, name: "a"}}, time.Now().Add(-time.Second), false)
		}, ""},
		"a deadline that has passed": {func(s *stage) {
			s.judge.gives([]hold{{lease: &paper{until: time.Now().Add(-1)}, name: "a"}}, time.Now().Add(-time.Second), false)
		}, "a loss that is not seen"},
		"a deadline that has passed, of which the context tells": {func(s *stage) {
			s.judge.gives([]hold{{lease: &paper{until: time.Now().Add(-1)}, name: "a"}}, time.Now().Add(-time.Second), true)
		}, ""},
		"a writer with the token of one that has read": {func(s *stage) {
			h := hold{lease: lease(1), name: "a", reads: true}
			grants(s.judge, h)
			s.judge.gives([]hold{h}, time.Now(), false)
			grants(s.judge, hold{lease: lease(1)})
		}, "a token that does not grow"},
		"a release that fails": {func(s *stage) {
			time.Sleep(warm + 1)
			s.judge.gave(lost, time.Now(), false)
		}, "a release that fails"},
		"a release after a loss": {func(s *stage) {
			s.judge.gave(lost, time.Now().Add(-time.Second), true)
		}, ""},
		"one that is served before one that came earlier": {func(s *stage) {
			s.judge.world.kind.queues = true
			time.Sleep(s.judge.world.quiet() + 1)
			s.judge.calls(0, false)
			time.Sleep(s.judge.world.late() + 1)
			c := s.judge.calls(0, false)
			s.judge.granted(c, []hold{{lease: lease(1), name: "a"}})
			s.judge.overtook(c)
		}, "overtaken"},
		"one that is served before one that came a little earlier": {func(s *stage) {
			s.judge.world.kind.queues = true
			time.Sleep(s.judge.world.quiet() + 1)
			s.judge.calls(0, false)
			time.Sleep(s.judge.world.late())
			c := s.judge.calls(0, false)
			s.judge.granted(c, []hold{{lease: lease(1), name: "a"}})
			s.judge.overtook(c)
		}, ""},
		"two that are served in the same moment": {func(s *stage) {
			s.judge.world.kind.queues = true
			time.Sleep(s.judge.world.quiet() + 1)
			first := s.judge.calls(0, false)
			time.Sleep(s.judge.world.late() + 1)
			c := s.judge.calls(0, false)
			s.judge.granted(c, []hold{{lease: lease(1), name: "a", reads: true}})
			s.judge.granted(first, []hold{{lease: lease(1), name: "a", reads: true}})
			s.judge.overtook(c)
		}, ""},
		"one that is served in its turn": {func(s *stage) {
			s.judge.world.kind.queues = true
			time.Sleep(s.judge.world.quiet() + 1)
			c := s.judge.calls(0, false)
			time.Sleep(2 * s.judge.world.late())
			s.judge.calls(0, false)
			s.judge.granted(c, []hold{{lease: lease(1), name: "a"}})
		}, ""},
		"an error": {func(s *stage) {
			s.judge.refused(s.judge.calls(0, false), lost, false)
		}, "an error without a fault"},
		"the end of a call's time": {func(s *stage) {
			s.judge.refused(s.judge.calls(0, true), lost, true)
		}, ""},
		"a long wait while others are served": {func(s *stage) {
			s.judge.calls(0, false)
			for range 60 {
				time.Sleep(time.Second)
				s.judge.granted(s.judge.calls(0, false), nil)
			}
			s.judge.progress()
		}, "had to wait"},
		"a long wait for nobody": {func(s *stage) {
			s.judge.granted(s.judge.calls(0, false), nil)
			time.Sleep(s.judge.world.quiet())
			s.judge.calls(0, false)
			time.Sleep(4500 * time.Millisecond)
			s.judge.progress()
		}, "nobody was served"},
		"a short wait": {func(s *stage) {
			time.Sleep(s.judge.world.quiet())
			s.judge.calls(0, false)
			time.Sleep(time.Second)
			s.judge.progress()
		}, ""},
		"what is left on a node": {func(s *stage) {
			require.NoError(t, s.nodes[0].Memory().Set("lock:{a}", ""))
			s.leftovers()
		}, "node 0 still has lock:{a}"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := world{nodes: 1, programs: make([]program, 1)}
				s := &stage{world: w, nodes: virtual.StartN(t, 1), judge: newJudge(w)}
				c.happens(s)
				if c.broken == "" {
					require.Empty(t, s.judge.broken)
				} else {
					require.Contains(t, strings.Join(s.judge.broken, "\n"), c.broken)
				}
			})
		})
	}
}
