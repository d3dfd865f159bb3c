/*
 * Fencing tokens over three masters: H holds, one after the other or at once, each of
 * which asks, settles its token with a second round if the nodes differ, and ends. Each is
 * a tenure, too: with RESERVE it reserves tokens and gives them out.
 *
 * It mirrors lua/acquire.lua, fence.lua, reserve.lua and repair.lua, tenure.fence and
 * tenure.grant in lock/attempt.go, and lock/reserve.go; with WRITTEN also lua/written.lua and unmint.lua. README.md says
 * what is left out. Releases are not sent here: the keys of a hold that is over go at any moment, each for itself, as late as
 * they like. How they do is lock.pml's matter.
 *
 * Counters begin with values that differ: each node has a past of its own.
 *
 * Parts: H       2 or 3 holds
 *        REPAIR  a holder repairs nodes that are without its key
 *        RESERVE a holder asks once for so many more tokens
 *        PROMPT  what is still on the way when a hold ends is lost: three holds are too
 *                many for a full search without
 *        LATE    the same, but a node may still grant a hold that has ended
 *        WRITTEN a hold's end may lower the counter, so that who reads next has its token: lua/written.lua
 *        KNOWN   with WRITTEN: all nodes have counted before, and alike
 *        SORTED  states that differ only in the numbers of nodes are one
 * V_...: variants that must fail.
 */

#ifndef H
#define H 3
#endif
#define QUORUM 2

#define NONE   0   /* not sent; or refused, lost, or run without anybody hearing of it */
#define SENT   1   /* on the way: it may be run at any moment, or never */
#define YES    2   /* the answer is heard */

typedef Pair {
  byte acquire;
  byte reply;      /* the token in its answer */
  byte fence;      /* the second round */
  byte reserve;    /* the round that reserves tokens */
  bit  repair;     /* on the way */
};

typedef Node {
  byte holder;     /* lock:{name}: hold, from 1; 0: free */
  byte counter;    /* lock:{name}:token */
#ifdef WRITTEN
  byte floor;      /* from 1: how far the holder's release may lower it; 0: nowhere */
#endif
  Pair with[H];
};

Node node[3];

#define IDLE    0
#define ASKING  1
#define FENCING 2
#define HELD    3  /* the token was returned */
#define OVER    4

byte phase[H];
bit  passed[H];    /* the deadline of its attempt */
byte token[H];
byte top[H];       /* of the tokens that a quorum is known to have reserved */
byte want[H];      /* of those that the nodes were asked for */
byte given[H];     /* the last one that was given out */
byte last;         /* the greatest token that was returned to anybody */

#define P(n, h)      node[n].with[h]
#define HAS(n, h)    (node[n].holder == h + 1)
#define EACH(do, h)  do(0, h); do(1, h); do(2, h)
#define COUNT(is, h) (is(0, h) + is(1, h) + is(2, h))
#define MAX(a, b)    (a > b -> a : b)

#define GRANTED(n, h) (P(n, h).acquire == YES)
#define AGREES(n, h)  (P(n, h).acquire == YES && P(n, h).reply == token[h])
#define FENCED(n, h)  (P(n, h).fence == YES)
#define BOOKED(n, h)  (P(n, h).reserve == YES)

#include "token_sorted.h"

inline ask(n, h) { P(n, h).acquire = SENT }
inline count(n, h) { token[h] = (P(n, h).acquire == YES -> MAX(token[h], P(n, h).reply) : token[h]) }
inline settle(n, h) { P(n, h).fence = SENT }
inline book(n, h) { P(n, h).reserve = SENT }
inline booked(n, h) { P(n, h).reserve = (P(n, h).reserve == SENT -> SENT : NONE) }
inline hear(n, h) {
  /* Answers no longer matter; what is on the way still does. */
  P(n, h).reply = 0;
#ifdef PROMPT
  P(n, h).acquire = NONE; P(n, h).fence = NONE; P(n, h).reserve = NONE
#elif defined(LATE)
  P(n, h).acquire = (P(n, h).acquire == SENT -> SENT : NONE);
  P(n, h).fence = NONE; P(n, h).reserve = NONE
#else
  P(n, h).acquire = (P(n, h).acquire == SENT -> SENT : NONE);
  P(n, h).fence = (P(n, h).fence == SENT -> SENT : NONE);
  P(n, h).reserve = (P(n, h).reserve == SENT -> SENT : NONE)
#endif
}

/* I3: greater than every token that was returned before. */
inline hold(h) {
  assert(token[h] > last);
  last = token[h];
  top[h] = token[h]; want[h] = token[h]; given[h] = token[h];
  phase[h] = HELD;
  EACH(hear, h)
}

#define AHEAD 1 /* by so much is the first count of a node's own clock greater than another's */

#ifdef V_FENCE_MINORITY
#define ENOUGH 1
#else
#define ENOUGH QUORUM
#endif

#ifdef V_UNCONFIRMED
#define MAY_GIVE(h) (given[h] < want[h])
#else
#define MAY_GIVE(h) (given[h] < top[h])
#endif

#ifdef V_RESERVE_MINORITY
#define ENOUGH_BOOKED 1
#else
#define ENOUGH_BOOKED QUORUM
#endif

proctype Client(byte h) {
end:
  do
  /* Holds are alike: the first to ask is called the first. */
  :: d_step { phase[h] == IDLE && (h == 0 || phase[(h + H - 1) % H] != IDLE) -> phase[h] = ASKING; EACH(ask, h); SORT }

  /* tenure.fence: the greatest of the granting quorum; a second round unless all have it. */
  :: d_step { phase[h] == ASKING && COUNT(GRANTED, h) >= QUORUM ->
      EACH(count, h);
      if
#ifdef V_NO_SECOND_ROUND
      :: true -> hold(h)
#else
      :: COUNT(AGREES, h) >= QUORUM -> hold(h)
      :: else -> phase[h] = FENCING; EACH(settle, h)
#endif
      fi;
      SORT }
  /* tenure.grant. The clock is read after that too: with its deadline an attempt is over. */
  :: d_step { phase[h] == FENCING && COUNT(FENCED, h) >= ENOUGH -> hold(h); SORT }

#ifdef RESERVE
  /* tenure.ask, tenure.answered, and contest.pass. */
  :: d_step { phase[h] == HELD && want[h] == token[h] -> want[h] = token[h] + RESERVE; EACH(book, h); SORT }
  :: d_step { phase[h] == HELD && want[h] > top[h] && COUNT(BOOKED, h) >= ENOUGH_BOOKED ->
      top[h] = want[h]; EACH(booked, h); SORT }
  :: d_step { phase[h] == HELD && MAY_GIVE(h) ->
      given[h]++; assert(given[h] > last); /* of the token */ last = given[h]; SORT }
#endif

  /* It fails, is released, or its deadline has passed: from now on its keys go. */
  :: d_step { phase[h] != IDLE && phase[h] != OVER -> phase[h] = OVER; passed[h] = 1; EACH(hear, h); SORT }
#ifdef V_LATE
  /* Its deadline passes, and it does not see. */
  :: d_step { (phase[h] == ASKING || phase[h] == FENCING) && !passed[h] -> passed[h] = 1; SORT }
#endif
  od
}

/* acquire.lua */
#define GRANTS(n, h) (node[n].holder == 0)
inline acquire_lua(n, h) {
#ifdef WRITTEN
  /* The first to count is ahead, by its own clock. */
  node[n].floor = (node[n].counter == 0 -> 1 : 0);
  node[n].counter = (node[n].counter == 0 -> AHEAD : node[n].counter);
#endif
  node[n].counter++;
  node[n].holder = h + 1
}

/* fence.lua: only while this hold has the key. */
#ifdef V_UNCONDITIONAL
#define MAY_FENCE(n, h) true
#else
#define MAY_FENCE(n, h) HAS(n, h)
#endif

inline fence_lua(n, h) {
#ifdef V_SET
  node[n].counter = token[h]
#else
  node[n].counter = MAX(node[n].counter, token[h])
#endif
}

/* reserve.lua: the same. */
#ifdef V_RESERVE_BLIND
#define MAY_RESERVE(n, h) true
#else
#define MAY_RESERVE(n, h) HAS(n, h)
#endif
inline reserve_lua(n, h) {
#ifdef WRITTEN
  node[n].floor = (node[n].floor == 0 && node[n].counter < want[h] -> node[n].counter + 1 : node[n].floor);
#endif
  node[n].counter = MAX(node[n].counter, want[h])
}

#ifdef WRITTEN
/* written.lua, and unmint.lua for a hold that had no lease */
#ifdef V_FALLS
#define LEAST(n, h) given[h]
#else
#define LEAST(n, h) MAX(given[h], (node[n].floor > 0 -> node[n].floor - 1 : node[n].counter))
#endif
inline written(n, h) {
  if
  :: given[h] == 0 -> node[n].counter = MAX(node[n].counter - 1, 1)
  :: given[h] > 0 && node[n].counter > given[h] -> node[n].counter = LEAST(n, h)
  :: else -> node[n].counter = given[h]
  fi;
  node[n].floor = 0;
  node[n].holder = 0
}
#endif

#define A P(n, h).acquire
#define F P(n, h).fence
#define R P(n, h).reserve

proctype Wire(byte h; byte n) {
end:
  do
  :: d_step { A == SENT && GRANTS(n, h) && phase[h] == ASKING ->
      acquire_lua(n, h); A = YES; P(n, h).reply = node[n].counter; SORT }
  :: d_step { A == SENT && GRANTS(n, h) -> acquire_lua(n, h); A = NONE; SORT }
  :: d_step { A == SENT && (!GRANTS(n, h) || phase[h] == OVER) -> A = NONE; SORT }

  :: d_step { F == SENT && MAY_FENCE(n, h) && phase[h] == FENCING -> fence_lua(n, h); F = YES; SORT }
  :: d_step { F == SENT && MAY_FENCE(n, h) -> fence_lua(n, h); F = NONE; SORT }
  :: d_step { F == SENT && (phase[h] == OVER || !MAY_FENCE(n, h)) -> F = NONE; SORT }

#ifdef RESERVE
  :: d_step { R == SENT && MAY_RESERVE(n, h) && phase[h] == HELD -> reserve_lua(n, h); R = YES; SORT }
  :: d_step { R == SENT && MAY_RESERVE(n, h) -> reserve_lua(n, h); R = NONE; SORT }
  :: d_step { R == SENT && (phase[h] == OVER || !MAY_RESERVE(n, h)) -> R = NONE; SORT }
#endif

#ifdef REPAIR
  /* tenure.repair, late perhaps. */
  :: d_step { phase[h] == HELD && !P(n, h).repair && !HAS(n, h) -> P(n, h).repair = 1; SORT }
  :: d_step { P(n, h).repair && node[n].holder == 0 ->
      node[n].counter = MAX(node[n].counter, top[h]); node[n].holder = h + 1; P(n, h).repair = 0;
#ifdef WRITTEN
      node[n].floor = 0; /* others may have had the lock here since */
#endif
      SORT }
  :: d_step { P(n, h).repair && phase[h] == OVER -> P(n, h).repair = 0; SORT }
#endif

  /* The key goes: by its TTL, or a release. */
  :: d_step { HAS(n, h) && passed[h] -> node[n].holder = 0;
#ifdef WRITTEN
      node[n].floor = 0;
#endif
      SORT }
#ifdef WRITTEN
  :: d_step { HAS(n, h) && passed[h] -> written(n, h); SORT }
#endif
  od
}

init {
  byte h, n;
  atomic {
    if
#ifndef KNOWN
    :: skip
    :: node[2].counter = 2
    :: node[1].counter = 2; node[2].counter = 2
#endif
#ifdef WRITTEN
    :: node[0].counter = 1; node[1].counter = 1; node[2].counter = 1
#endif
    fi;
    for (h : 0 .. H - 1) {
      run Client(h);
      for (n : 0 .. 2) { run Wire(h, n) }
    }
    h = 0; n = 0
  }
}
