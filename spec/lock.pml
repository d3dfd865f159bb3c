/*
 * The lock round: three masters and H holds at a time, over a network that loses,
 * delays, reorders and doubles.
 *
 * It mirrors lua/acquire.lua, release.lua, extend.lua, repair.lua and guard.lua (see
 * lock_node.h); redlock/footprint.go, op.go and pending.go (where a release is sent, with a
 * mark or without, until it is confirmed); lock/attempt.go, hold.go, renew.go and
 * release.go. README.md says what is left out.
 *
 * A hold is one acquisition with an id of its own. Its slot is used again once nothing
 * of it is left anywhere, so the search covers histories without end.
 *
 * Time: the deadline of a round may pass at any moment. A key may go at any moment after
 * the deadline of the round that wrote it last, and never before. That is all that I1
 * takes for granted of clocks. Round 1 is the one that validity is counted from, 2 the
 * renewal under way; once that is confirmed it becomes 1, and 1 becomes 0: passed.
 *
 * Parts: EXPIRY  deadlines pass; without, TTLs are endless, and what stays is seen
 *        EXTEND  renewals and repairs
 *        CRASH   one node forgets everything, once, under the restart guard
 *        ONCE    each client wants the lock once: who never gets it is a stuck state
 *        SORTED  states that differ only in the numbers of nodes or holds are one
 * V_...: variants that must fail.
 */

#ifndef H
#define H 3
#endif
#ifdef V_MINORITY
#define QUORUM 1
#else
#define QUORUM 2
#endif

#define IDLE   0
#define ASKING 1
#define HELD   2     /* valid, as its client sees it */
#define OVER   3
#define DONE   4

byte phase[H];
bit  passed[H];      /* the deadline of round 1 has passed */
#ifdef EXTEND
bit  renewing[H];    /* round 2 is under way */
#define BEGUN(h)     (phase[h] == IDLE -> 0 : 1 + renewing[h])
#else
#define BEGUN(h)     (phase[h] != IDLE)
#endif
#ifdef CRASH
bit  crashed;
byte before[H];      /* rounds begun before the crash: the guard outlives their deadlines */
#endif
#ifdef ONCE
bit  won[H];
#endif

#include "lock_node.h"
#include "sorted.h"

/* I1: whoever becomes valid is the only one. */
#if H == 2
#define ALONE(h) (phase[1 - h] != HELD)
#else
#define ALONE(h) (phase[(h + 1) % 3] != HELD && phase[(h + 2) % 3] != HELD)
#endif

#define GRANTED(n, h)  (P(n, h).way == YES)
#define CONFIRMS(n, h) (P(n, h).extend == EXTENDED)
#define GONE(n, h)     (P(n, h).extend >= FREE)
#ifdef V_EXTEND_MINORITY
#define CONFIRMED(h)   (COUNT(CONFIRMS, h) >= 1)
#else
#define CONFIRMED(h)   (COUNT(CONFIRMS, h) >= QUORUM)
#endif
#ifdef EXTEND
#define QUIET(n, h)    (P(n, h).way == NONE && P(n, h).extend == NONE)
#else
#define QUIET(n, h)    (P(n, h).way == NONE)
#endif
#ifdef EXPIRY
#define RESTS(h)       (COUNT(QUIET, h) == 3 && COUNT(HAS, h) == 0)
#else
#define RESTS(h)       (COUNT(QUIET, h) == 3)
#endif

inline ask(n, h) { P(n, h).way = SENT }

#ifdef EXTEND
inline renew(n, h) { P(n, h).extend = SENT }

/* A renewal is confirmed. What is late makes a key live longer, no more, and is as good
   as lost. A node that was free is repaired (renewal.answered). */
inline confirm(n, h) {
  if
  :: HAS(n, h) -> node[n].round = (node[n].round > 0 -> node[n].round - 1 : 0)
  :: !HAS(n, h) && P(n, h).extend == FREE && P(n, h).way != SENT ->
    P(n, h).repair = 1; P(n, h).way = SENT
  :: else
  fi;
  P(n, h).extend = NONE
}

/* It is not: again, from a start of its own. */
inline abandon(n, h) {
  if
  :: HAS(n, h) && node[n].round == 2 -> node[n].round = 1
  :: else
  fi;
#ifdef V_EXTEND_CREATES
  P(n, h).extend = (P(n, h).extend == SENT -> SENT : NONE)
#else
  P(n, h).extend = NONE
#endif
}
#endif

/* hold.vacation: the footprint tells where a release is needed, and where with a mark. */
inline vacate_one(n, h) {
  if
#ifdef V_NO_YIELD
  :: phase[h] != HELD -> P(n, h).way = NONE
#endif
  :: P(n, h).way == YES -> P(n, h).way = RELEASE
#ifdef V_SKIP_SILENT
  :: P(n, h).way == SENT -> P(n, h).way = LOOSE
#else
  :: P(n, h).way == SENT -> P(n, h).way = MARKING
#endif
  :: else -> P(n, h).way = NONE
  fi
}

inline vacate(h) {
  EACH(vacate_one, h);
#ifdef EXTEND
  renewing[h] = 0; EACH(abandon, h);
#endif
  phase[h] = OVER;
  passed[h] = 1  /* nobody relies on its keys: they may go at any moment */
}

#ifdef ONCE
/* When it retries is a matter of wake-ups and random pauses: sooner or later that is when
   its rivals rest. It is worth while if a quorum of nodes could say yes. */
#define OPEN(n, h) (node[n].holder == 0 || HAS(n, h))
#define MAY_ASK(h) (COUNT(OPEN, h) >= QUORUM)
#define NEXT(h)    (won[h] -> DONE : IDLE)
#else
#define MAY_ASK(h) true
#define NEXT(h)    IDLE
#endif

proctype Client(byte h) {
end:
  do
  /* Engine.attempt: a new hold asks every node at once. */
  :: d_step { phase[h] == IDLE && MAY_ASK(h) -> phase[h] = ASKING; EACH(ask, h); SORT }

  /* hold.grant: a quorum said yes, and the clock is read after that. */
#ifdef V_FROM_REPLY
  :: d_step { phase[h] == ASKING && COUNT(GRANTED, h) >= QUORUM ->
#else
  :: d_step { phase[h] == ASKING && COUNT(GRANTED, h) >= QUORUM && !passed[h] ->
#endif
      assert(ALONE(h));
      phase[h] = HELD;
#ifdef ONCE
      won[h] = 1;
#endif
      SORT }

  /* hold.giveBack: nodes said no, or were silent for too long; the caller has gone, or
     it took too long. */
  :: d_step { phase[h] == ASKING -> vacate(h); SORT }

  /* Lease.Unlock. */
  :: d_step { phase[h] == HELD -> vacate(h); SORT }

#ifdef EXPIRY
  /* A deadline passes, and with it what relies on it (hold.expire). */
  :: d_step { (phase[h] == ASKING || phase[h] == HELD) && !passed[h] ->
      passed[h] = 1;
      if
#if !defined(V_IGNORE_DEADLINE) && !defined(V_FROM_REPLY)
      :: phase[h] == HELD -> vacate(h)
#endif
      :: else
      fi;
      SORT }
#endif

#ifdef EXTEND
  /* hold.renew, and renewal.decided: by a quorum, before the old deadline; or not. */
  :: d_step { phase[h] == HELD && !renewing[h] ->
      renewing[h] = 1; EACH(renew, h); SORT }
  :: d_step { phase[h] == HELD && renewing[h] && CONFIRMED(h) ->
      renewing[h] = 0; EACH(confirm, h);
#ifdef CRASH
      before[h] = (before[h] == 2 -> 1 : 0);
#endif
      SORT }
  :: d_step { phase[h] == HELD && renewing[h] && !CONFIRMED(h) ->
      renewing[h] = 0; EACH(abandon, h);
#ifdef CRASH
      before[h] = (before[h] == 0 -> 0 : 1);
#endif
      SORT }
  /* No quorum can have it any more. */
  :: d_step { phase[h] == HELD && COUNT(GONE, h) >= 2 -> vacate(h); SORT }
#endif

  /* Nothing is under way. Nothing may have stayed (I5). */
  :: d_step { phase[h] == OVER && RESTS(h) ->
#ifndef V_NO_YIELD
      assert(COUNT(HAS, h) == 0);
#endif
      phase[h] = NEXT(h);
#ifdef CRASH
      before[h] = 0;
#endif
      passed[h] = 0; SORT }
  od
}

#define W P(n, h).way

/* The network between one client and one node, and the clock of that node. */
proctype Wire(byte h; byte n) {
end:
  do
  /* The creating command is run, and its answer is heard, or not yet. */
  :: d_step { W == SENT && GRANTS(n, h) -> grant(n, h); W = YES; SETTLED(n, h); SORT }
  :: d_step { W == SENT && !GRANTS(n, h) -> W = NO; SETTLED(n, h); SORT }
  :: d_step { W == SENT && GRANTS(n, h) -> grant(n, h); SORT }
  /* It never left, and the client knows. */
  :: d_step { W == SENT && !HAS(n, h) -> W = NO; SETTLED(n, h); SORT }
  /* It is run after the client has given up. */
  :: d_step { W >= MARKING && GRANTS(n, h) -> grant(n, h); SORT }
  /* It is gone: run for the last time, or lost. */
  :: d_step { W == MARKING || W == MARKED -> W = RELEASE; SETTLED(n, h); SORT }
  :: d_step { W == VOIDED || W == LOOSE -> W = NONE; SETTLED(n, h); SORT }

  /* The release is run and confirmed, or run without anybody hearing of it: it is sent
     again until it is confirmed (redlock/pending.go). */
  :: d_step { W == RELEASE -> release_lua(n, h); W = NONE; SORT }
  :: d_step { W == RELEASE -> release_lua(n, h); SORT }
  :: d_step { W == MARKING || W == MARKED -> release_lua(n, h); W = VOIDED; SORT }
  :: d_step { W == MARKING -> release_lua(n, h); W = MARKED; SORT }
#ifdef V_ONE_RELEASE
  :: d_step { W == RELEASE -> W = NONE; SORT }
#endif

#ifdef EXTEND
  :: d_step { P(n, h).extend == SENT -> extend_lua(n, h); SORT }
  :: d_step { P(n, h).extend != NONE && phase[h] == OVER -> P(n, h).extend = NONE; SORT }
#endif

#ifdef EXPIRY
  :: d_step { HAS(n, h) && ROUND(n) <= passed[h] -> DELETE(n); SORT }
#endif
  od
}

#ifdef CRASH
#define OUTLIVED(h) (!before[h] || passed[h])

/* A node is killed, and starts at once with nothing: no key, no mark. */
proctype Crash(byte n) {
end:
  do
  :: d_step { !crashed ->
      crashed = 1; DELETE(n); node[n].young = 1;
      unmark(n, 0); unmark(n, 1);
      before[0] = BEGUN(0); before[1] = BEGUN(1); SORT }
  :: d_step { node[n].young && OUTLIVED(0) && OUTLIVED(1) -> node[n].young = 0; SORT }
  od
}
#endif

init {
  atomic {
    byte h, n;
    for (h : 0 .. H - 1) {
      run Client(h);
      for (n : 0 .. 2) { run Wire(h, n) }
    }
#ifdef CRASH
    for (n : 0 .. 2) { run Crash(n) }
#endif
  }
#ifdef ONCE
  timeout;  /* nothing can happen any more: everybody has had the lock (I6) */
  assert(won[0] && won[1] && won[H - 1])
#endif
}
