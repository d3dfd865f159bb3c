/*
 * The restart guard, where nodes come back with what they had on disk: two clients, each
 * of which waits and holds under one hold id, and three masters that are killed at any
 * moment, KILLS times, and start with nothing or with an old snapshot.
 *
 * It mirrors lua/guard.lua, and acquire.lua, fair_acquire.lua, rw_acquire.lua and
 * permit_acquire.lua, which ask it before anything else; fair_yield.lua and its like;
 * extend.lua, repair.lua and restore.lua, and Contender in lock/contender.go, which asks
 * again and again under one id. README.md says what is left out. How commands are doubled
 * and marked is lock.pml's matter, and order is queue.pml's.
 *
 * Time: the deadline of a round may pass at any moment. A key may go at any moment after the
 * deadline of the round that wrote it last, and never before. Round 1 is the one that
 * validity is counted from, 2 the renewal under way, 0 any before. A guard is over once every
 * deadline has passed whose round had begun when the node was killed; by then, no key that it
 * came back with is left.
 *
 * Parts: EXTEND  renewals, and repairs of nodes that lack the hold
 *        SORTED  states that differ only in the numbers of nodes are one
 * V_...: variants that must fail.
 */

#ifndef KILLS
#define KILLS 2
#endif
#define QUORUM 2

#define IDLE   0
#define ASKING 1   /* a round of a client that waits, or is the first to come */
#define HELD   2
#define OVER   3

byte phase[2];
bit  passed[2];      /* the deadline of round 1 has passed */
#ifdef EXTEND
bit  renewing[2];
#define BEGUN(h) (phase[h] == ASKING || phase[h] == HELD -> 1 + renewing[h] : 0)
#else
#define BEGUN(h) (phase[h] == ASKING || phase[h] == HELD)
#endif

/* What is on the way between a client and a node. */
#define NONE    0
#define SENT    1   /* the question: it may have run or not */
#define YES     2   /* it was granted */
#define YIELD   3   /* what takes a grant back: a yield, after a round that came to nothing, or a release */

typedef Pair {
  byte way;
  byte before;       /* so many of its rounds had begun when the node was killed */
#ifdef EXTEND
  byte extend;       /* NONE, SENT, or how the extension was answered: */
#endif
};
#define EXTENDED 2
#define FREE     3
#define SILENT   4   /* another has the lock; or it does not tell, for it is young */

typedef Node {
  byte holder;       /* lock:{name}: whose hold is here, from 1; 0: free */
  byte round;        /* of the last write */
  bit  fresh;        /* it was asked for in the present round of its client, or is known to last */
  byte saved;        /* what is in the snapshot */
  bit  then;         /* which was fresh, and its round has not come to nothing since */
  bit  young;
  Pair with[2];
};

Node node[3];
byte killed;

#define P(n, h)      node[n].with[h]
#define HAS(n, h)    (node[n].holder == h + 1)
#define SAVED(n, h)  (node[n].saved == h + 1)
#define EACH(do, h)  do(0, h); do(1, h); do(2, h)
#define COUNT(is, h) (is(0, h) + is(1, h) + is(2, h))

#define GRANTED(n, h)  (P(n, h).way == YES)
#define CONFIRMS(n, h) (P(n, h).extend == EXTENDED)
#define GONE(n, h)     (P(n, h).extend >= FREE)
#define QUIET(n, h)    (P(n, h).way == NONE && !HAS(n, h) && !SAVED(n, h))

#include "guard_sorted.h"

#ifdef V_NO_GUARD
#define SHUT(n) false
#else
#define SHUT(n) node[n].young
#endif
/* What each script that grants asks first. */
#ifdef V_SNAPSHOT_GRANTS
#define GRANTS(n, h) (HAS(n, h) || node[n].holder == 0 && !SHUT(n))
#else
#define GRANTS(n, h) ((HAS(n, h) || node[n].holder == 0) && !SHUT(n))
#endif
#ifdef V_REPAIR_UNGUARDED
#define REPAIRS(n) (node[n].holder == 0)
#else
#define REPAIRS(n) (node[n].holder == 0 && !SHUT(n))
#endif

/* former.lua: a young node may have a hold from a snapshot that was given back since, and may have granted another
   client the lock since. It counts if it is of the round that was granted. */
#ifdef V_SNAPSHOT_EXTENDS
#define COUNTS(n, h) HAS(n, h)
#else
#define COUNTS(n, h) (HAS(n, h) && (node[n].fresh || !SHUT(n)))
#endif

#define MAX(a, b) (a > b -> a : b)
#define AFTER(r) (r > 0 -> r - 1 : 0)

/* No write shortens a TTL. */
inline write(n, h, r) {
  node[n].round = (HAS(n, h) -> MAX(node[n].round, r) : r);
  node[n].holder = h + 1; node[n].fresh = 1
}
inline drop(n)   { node[n].holder = 0; node[n].round = 0; node[n].fresh = 0 }
inline forget(n) { node[n].saved = 0; node[n].then = 0 }

/* What its former rounds have written relies on no deadline of a client any more. */
inline past(n, h) {
  node[n].round = (HAS(n, h) -> 0 : node[n].round);
  node[n].fresh = (HAS(n, h) -> 0 : node[n].fresh);
  node[n].then = (SAVED(n, h) -> 0 : node[n].then);
  P(n, h).before = 0
}

inline ask(n, h) { P(n, h).way = SENT }

/* contest: what was granted is taken back, and what is not known to be refused. */
inline yield(n, h) {
  P(n, h).way = (P(n, h).way == NONE -> NONE : YIELD)
}

#ifdef EXTEND
inline part(n, h) { P(n, h).extend = NONE }
#endif

inline conclude(h) {
  EACH(yield, h); EACH(past, h);
#ifdef EXTEND
  renewing[h] = 0; EACH(part, h);
#endif
  passed[h] = 0
}

#ifdef EXTEND
inline renew(n, h) { P(n, h).extend = SENT }

/* Round 2 becomes 1, and 1 becomes 0. What lacked the hold is repaired, at once or never. */
inline confirm(n, h) {
  node[n].round = (HAS(n, h) -> AFTER(node[n].round) : node[n].round);
  P(n, h).before = AFTER(P(n, h).before);
  if
  :: P(n, h).extend == FREE && REPAIRS(n) -> write(n, h, 0)
  :: skip
  fi;
  P(n, h).extend = NONE
}

/* Again, from a start of its own. */
inline abandon(n, h) {
  node[n].round = (HAS(n, h) && node[n].round == 2 -> 1 : node[n].round);
  P(n, h).before = (P(n, h).before == 0 -> 0 : 1);
  P(n, h).extend = NONE
}
#endif

proctype Client(byte h) {
end:
  do
  :: d_step { phase[h] == IDLE -> phase[h] = ASKING; EACH(ask, h); SORT }

  /* A quorum said yes, and the clock is read after that. */
  :: d_step { phase[h] == ASKING && COUNT(GRANTED, h) >= QUORUM && !passed[h] ->
      assert(phase[1 - h] != HELD);
      phase[h] = HELD;
      SORT }
  /* It did not, or too late. It waits, and asks again under the same id. */
  :: d_step { phase[h] == ASKING -> phase[h] = IDLE; conclude(h); SORT }

  /* It unlocks; or its deadline passes, and with it what relies on it. */
  :: d_step { phase[h] == HELD -> phase[h] = OVER; conclude(h); SORT }
  :: d_step { phase[h] == ASKING && !passed[h] -> passed[h] = 1; SORT }

#ifdef EXTEND
  :: d_step { phase[h] == HELD && !renewing[h] ->
      renewing[h] = 1; EACH(renew, h); SORT }
  :: d_step { phase[h] == HELD && renewing[h] && COUNT(CONFIRMS, h) >= QUORUM ->
      renewing[h] = 0; EACH(confirm, h); SORT }
  :: d_step { phase[h] == HELD && renewing[h] && COUNT(CONFIRMS, h) < QUORUM ->
      renewing[h] = 0; EACH(abandon, h); SORT }
#endif

  /* An id is used for one lease: whoever comes next has another. */
  :: d_step { phase[h] == OVER && COUNT(QUIET, h) == 3 -> phase[h] = IDLE; SORT }
  od
}

#define W P(n, h).way

/* The network between one client and one node, and the clock of that node. */
proctype Wire(byte h; byte n) {
end:
  do
  /* The question is run, and its answer is heard, or not. */
  :: d_step { W == SENT && GRANTS(n, h) -> write(n, h, 1); W = YES; SORT }
  :: d_step { W == SENT && GRANTS(n, h) -> write(n, h, 1); SORT }
  :: d_step { W == SENT && !GRANTS(n, h) -> W = NONE; SORT }
  /* What takes it back is run, or lost. */
  :: d_step { W == YIELD ->
      if
      :: HAS(n, h) -> drop(n)
      :: else
      fi;
      W = NONE; SORT }
  :: d_step { W == YIELD -> W = NONE; SORT }

#ifdef EXTEND
  :: d_step { P(n, h).extend == SENT ->
      if
      :: COUNTS(n, h) -> write(n, h, 2); P(n, h).extend = EXTENDED
      :: node[n].holder == 0 -> P(n, h).extend = FREE
      :: else -> P(n, h).extend = SILENT
      fi;
      SORT }
#endif

  /* It expires; and what was saved of it, at the same time or before. */
  :: d_step { HAS(n, h) && node[n].round <= passed[h] ->
      drop(n);
      if
      :: SAVED(n, h) -> forget(n)
      :: else
      fi;
      SORT }
  od
}

#define OUTLIVED(n, h) (!P(n, h).before || passed[h])

/* A node, which saves what it has, and is killed. */
proctype Server(byte n) {
end:
  do
  :: d_step { node[n].saved != node[n].holder || node[n].then != node[n].fresh ->
      node[n].saved = node[n].holder; node[n].then = node[n].fresh; SORT }
  :: d_step { killed < KILLS ->
      killed++;
      drop(n); node[n].young = 1;
      if
      :: node[n].holder = node[n].saved; node[n].fresh = node[n].then
      :: forget(n)
      fi;
      P(n, 0).before = BEGUN(0); P(n, 1).before = BEGUN(1); SORT }
  :: d_step { node[n].young && OUTLIVED(n, 0) && OUTLIVED(n, 1) ->
      node[n].young = 0; P(n, 0).before = 0; P(n, 1).before = 0; SORT }
  od
}

init {
  atomic {
    byte h, n;
    for (h : 0 .. 1) {
      run Client(h);
      for (n : 0 .. 2) { run Wire(h, n) }
    }
    for (n : 0 .. 2) { run Server(n) }
  }
}
