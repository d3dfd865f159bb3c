/*
 * The fair queue: two waiters and three masters that another hold has at first.
 *
 * It mirrors lua/queue.lua and the fair_*.lua scripts (see queue_node.h), lock/ask.go,
 * lock/queuer.go and hold.vacation (lock/hold.go). README.md says what is left out.
 *
 * A waiter asks in rounds. Between rounds it sleeps until a node has reason to wake it:
 * its turn has come there, or it has no place there (fair_release.lua, fair_beat.lua). A
 * lost wake-up is the beat's matter, so none is modelled. Of the rounds of a waiter, the
 * present one counts and all before it are "earlier".
 *
 * Parts: LATE    so many commands may come after their round; others come in time or never
 *        CANCEL  waiters may leave at any moment
 *        CRASH   one waiter may crash
 *        EXPIRY  so many keys that nobody relies on go with their TTL; without, TTLs are
 *                endless, and what stays is seen
 *        POLL    so many times a sleeper asks without a reason
 *        TWO     two masters, of which both must agree
 *        SORTED  states that differ only in the numbers of nodes are one
 * V_...: variants that must fail.
 */

#ifdef TWO
#define N 2
#define EACH(do, w)  do(0, w); do(1, w)
#define COUNT(is, w) (is(0, w) + is(1, w))
#else
#define N 3
#define EACH(do, w)  do(0, w); do(1, w); do(2, w)
#define COUNT(is, w) (is(0, w) + is(1, w) + is(2, w))
#endif
#define QUORUM 2

/* What means something within a step only is no part of the state (breadth-first
   searches, which are short, cannot do that). */
#ifdef SORTED
#define SCRATCH hidden byte
#else
#define SCRATCH byte
#endif

#define OTHER 3       /* the hold that has the lock at first */

#define IDLE     0
#define ASKING   1
#define YIELDING 2    /* the round is lost; what was granted is given back */
#define ASLEEP   3    /* with a final ticket */
#define HELD     4
#define OVER     5
#define CRASHED  6

byte phase[2];
byte ticket[2];       /* the greatest proposal that was heard of */
bit  final[2];        /* a quorum has it */
bit  behind[2];       /* the other's place was final before this one began to ask */
#ifdef CRASH
bit  crashed;
#endif
#ifdef POLL
byte polls;           /* sleepers that asked without a reason, so far */
#endif
#ifdef EXPIRY
byte expired;         /* keys that went with their TTL, so far */
#endif

SCRATCH asked;           /* what this round stated */
SCRATCH most;
byte delays;          /* commands that were late, so far */
#ifndef LATE
#define LATE 2
#endif

#define FORGET(w) ticket[w] = 0; final[w] = 0; behind[0] = 0; behind[1] = 0
#define WAITS(w) (phase[w] >= ASKING && phase[w] <= ASLEEP)

#include "queue_node.h"

#define GRANTED(n, w) (P(n, w).ask == YES)
#define MINE(n, w)    (P(n, w).reply == ticket[w] && (P(n, w).ask == NO || P(n, w).ask == KEPT))
#define SAID(n, w)    (P(n, w).reply == ticket[w] && P(n, w).ask == NO)

inline begin(n, w) {
  if
  :: P(n, w).yield != 0 && !P(n, w).old && delays < LATE -> delays++; P(n, w).old = 1
  :: P(n, w).yield != 0 && !P(n, w).old && delays == LATE -> P(n, w).yield = 0
  :: else
  fi;
  P(n, w).granted = (P(n, w).granted != 0 -> EARLIER : 0);
  P(n, w).reply = 0;
  P(n, w).ask = SENT
}
/* A command that was not answered in time is late from now on, or lost. */
inline overtake(n, w) {
  if
  :: P(n, w).ask == SENT && delays < LATE && P(n, w).late == 0 ->
    delays++; P(n, w).late = asked; P(n, w).then = ticket[w]
  :: else
  fi;
  P(n, w).ask = (P(n, w).ask == SENT -> NONE : P(n, w).ask)
}
inline count(n, w) { ticket[w] = (P(n, w).ask == NO && !final[w] -> MAX(ticket[w], P(n, w).reply) : ticket[w]) }
inline return_it(n, w) {
  if
  :: P(n, w).ask == YES -> P(n, w).yield = LETTER(w); P(n, w).old = 0
  :: else
  fi
}
inline greatest(n, w) { most = (P(n, w).ask == KEPT -> MAX(most, P(n, w).reply) : most) }
inline hush(n, w) { P(n, w).ask = NONE; P(n, w).reply = 0 }
inline leave(n, w) { P(n, w).release = 1; hush(n, w) }

/* hold.vacation */
inline vacate(w) {
  asked = LETTER(w); EACH(overtake, w); asked = 0; EACH(leave, w);
  phase[w] = OVER; FORGET(w)
}

/* queuer.ask, after the yields: is the place fixed? */
inline fix(w) {
  most = 0; EACH(greatest, w);
  if
  :: final[w] -> skip
  :: !final[w] && most > ticket[w] -> ticket[w] = most; final[w] = (COUNT(SAID, w) >= QUORUM)
  :: else -> final[w] = (COUNT(MINE, w) >= QUORUM)
  fi;
  most = 0;
  EACH(hush, w);
#ifdef V_NO_YIELD
  phase[w] = ASLEEP
#else
  phase[w] = (final[w] -> ASLEEP : ASKING);
  if
  :: !final[w] -> EACH(begin, w)
  :: else
  fi
#endif
}

/* What wakes a sleeper: it is its turn on a node, or it has no place there. */
#ifdef V_NO_YIELD
/* With the keys of a minority, asking changes nothing. */
#define WAKES(n, w) (!HAS(n, w) && (node[n].holder == 0 && HEAD(n, w) || P(n, w).place == 0))
#else
#define WAKES(n, w) (node[n].holder == 0 && HEAD(n, w) || P(n, w).place == 0)
#endif


proctype Waiter(byte w) {
end:
  do
  :: d_step { phase[w] == IDLE ->
      behind[w] = (WAITS(1 - w) && final[1 - w]);
      phase[w] = ASKING; EACH(begin, w); SORT }
  :: d_step { phase[w] == ASLEEP && COUNT(WAKES, w) > 0 -> RETICKET(w); phase[w] = ASKING; EACH(begin, w); SORT }
#ifdef V_NO_YIELD
  :: d_step { phase[w] == ASLEEP && COUNT(HAS, w) >= QUORUM -> phase[w] = ASKING; EACH(begin, w); SORT }
#endif
#ifdef POLL
  :: d_step { phase[w] == ASLEEP && polls < POLL && COUNT(WAKES, w) == 0 -> polls++; phase[w] = ASKING; EACH(begin, w); SORT }
#endif

  :: d_step { phase[w] == ASKING && COUNT(GRANTED, w) >= QUORUM ->
      assert(phase[1 - w] != HELD);                   /* I1 */
#ifndef EXPIRY
      assert(!behind[w] || !WAITS(1 - w));            /* I7: first come, first served */
#endif
      asked = LETTER(w); EACH(overtake, w); asked = 0; EACH(hush, w);
      phase[w] = HELD; FORGET(w); SORT }
#ifdef EXPIRY
  :: d_step { phase[w] == ASKING ->
#else
  :: d_step { phase[w] == ASKING && COUNT(GRANTED, w) < QUORUM ->
#endif
      asked = LETTER(w); EACH(count, w); EACH(overtake, w); asked = 0;
#ifdef V_NO_YIELD
      fix(w);
#else
      if
      :: COUNT(GRANTED, w) == 0 -> fix(w)
      :: else -> EACH(return_it, w); phase[w] = YIELDING
      fi;
#endif
      SORT }
  /* The yields are answered, or the node timeout is over. */
  :: d_step { phase[w] == YIELDING -> fix(w); SORT }

  :: d_step { phase[w] == HELD -> vacate(w); SORT }
#ifdef CANCEL
  :: d_step { WAITS(w) -> vacate(w); SORT }
#endif
#ifdef CRASH
  :: d_step { (WAITS(w) || phase[w] == HELD) && !crashed ->
      crashed = 1; asked = LETTER(w); EACH(overtake, w); asked = 0; EACH(hush, w);
      phase[w] = CRASHED; FORGET(w); SORT }
#endif
  od
}

#define W P(n, w)

/* The network between one waiter and one node, and what the node does by itself. */
proctype Wire(byte w; byte n) {
end:
  do
  /* The command of this round is run, and its answer heard, or not yet. */
  :: d_step { W.ask == SENT -> fair_acquire(n, w, ticket[w], final[w], PRESENT); W.ask = answer; W.reply = told; SORT_ }
  :: d_step { W.ask == SENT -> fair_acquire(n, w, ticket[w], final[w], PRESENT); SORT_ }

  /* That of an earlier round. A late yes is given back (asking.answered). */
  :: d_step { W.late != 0 && !W.mark ->
      fair_acquire(n, w, TICKET(W.late), FINAL(W.late), EARLIER);
      if
#ifndef V_NO_YIELD
      :: answer == YES && WAITS(w) && W.yield == 0 -> W.yield = LATER(W.late, W.then); W.old = 1
#endif
      :: else
      fi;
      W.late = 0; W.then = 0; SORT_ }
  :: d_step { W.late != 0 && phase[w] >= OVER -> W.late = 0; W.then = 0; CALM; SORT_ }

  :: d_step { W.yield != 0 -> fair_yield(n, w);
      if
      :: phase[w] == YIELDING && !W.old -> W.ask = KEPT; W.reply = told
      :: else
      fi;
      W.yield = 0; W.old = 0; CALM; SORT_ }
  :: d_step { W.yield != 0 && phase[w] >= OVER -> W.yield = 0; W.old = 0; CALM; SORT_ }

  /* fair_settle.lua, where a holder waits still. */
  :: d_step { phase[w] == HELD && W.place != 0 -> W.place = 0; W.granted = 0; W.had = 0; SORT_ }

  /* The release is run and confirmed, or nobody heard: then it comes again. */
  :: d_step { W.release -> fair_release(n, w); W.release = 0; SORT_ }
  :: d_step { W.release -> fair_release(n, w); SORT_ }

  /* The end of the hold that had the lock at first arrives here. */
  :: d_step { w == 0 && node[n].holder == OTHER + 1 -> node[n].holder = 0; SORT_ }

#ifndef V_DEAD_STAY
  /* Dead waiters are dropped (queue.lua, head). */
  :: d_step { phase[w] == CRASHED && W.place != 0 -> W.place = 0; SORT_ }
#endif
  /* A key goes with its TTL. */
  :: d_step { phase[w] == CRASHED && (HAS(n, w) || W.granted != 0) ->
      node[n].holder = (HAS(n, w) -> 0 : node[n].holder); W.granted = 0; W.had = 0; SORT_ }
#ifdef EXPIRY
  :: d_step { expired < EXPIRY && HAS(n, w) && !(W.granted == PRESENT && (phase[w] == ASKING || phase[w] == HELD)) ->
      expired++; node[n].holder = 0; SORT_ }
  /* The record of a grant may go once the grant has, and not before (place.lua, outlive). */
  :: d_step { expired > 0 && !HAS(n, w) && W.granted != 0 -> W.granted = 0; W.had = 0; SORT_ }
#endif
#ifdef V_BRIEF_RECORD
  :: d_step { HAS(n, w) && W.granted != 0 -> W.granted = 0; W.had = 0; SORT_ }
#endif
  od
}

#define CLEAN(n, w) (!HAS(n, w) && P(n, w).place == 0 && P(n, w).granted == 0)

init {
  byte w, n;
  bit stuck, litter;
  atomic {
    for (n : 0 .. N - 1) { node[n].holder = OTHER + 1 }
    for (w : 0 .. 1) {
      run Waiter(w);
      for (n : 0 .. N - 1) { run Wire(w, n) }
    }
    w = 0; n = 0
  }
  timeout;  /* nothing can happen any more */
  stuck = (WAITS(0) || WAITS(1));
  assert(!stuck);    /* I6 */
  litter = (COUNT(CLEAN, 0) != N || COUNT(CLEAN, 1) != N);
  assert(!litter)    /* I5 */
}
