/*
 * Vouching: one hold over three masters is renewed, while nodes forget it and a rival
 * takes the lock where it can. Nodes that are free may vouch for the hold, and count.
 *
 * It mirrors lua/restore.lua, extend.lua, repair.lua, acquire.lua, token.lua, fence.lua and
 * unmint.lua; judge in lock/verdict.go, renewal.decided in lock/renew.go, and hold.fence in
 * lock/attempt.go. README.md says what is left out. How commands are lost, late and cleaned
 * up after is lock.pml's matter, and tokens are token.pml's.
 *
 * The search begins when the hold is granted, with a token that a quorum knows, and goes no
 * further than its end. The rival asks, settles its token, holds and releases, LIVES times
 * under a new id each.
 *
 * Tokens: T is the hold's. A node that has no counter begins with a date, which is greater;
 * and so does one that was started since, as the restart guard has it.
 *
 * Time: until the hold is over, its deadline has not passed, and keys that were written in
 * the round it counts from cannot expire. Others can: at any moment. Round 1 is the one
 * that validity counts from, 2 the one under way, 0 any before.
 *
 * Parts: FORGET  nodes forget, as often as they like: a key is deleted, all of a node is
 *                flushed, or it is started again, with nothing or with an old snapshot
 *        SORTED  states that differ only in the numbers of nodes are one
 * V_...: variants that must fail.
 */

#ifndef LIVES
#define LIVES 2
#endif
#define QUORUM 2

#define HOLD  1
#define RIVAL 2

#define T     2
#define DATE  4  /* greater than T, and so is the number before it */

/* What a node has answered to the hold's round, or to the rival. */
#define NONE   0
#define SENT   1
#define DONE   2  /* it has the hold; it granted the rival the lock */
#define BACK   3  /* it vouched, and has the hold again */
#define FREE   4
#define TAKEN  5
#define KNOWS  6  /* it has the rival's lock, and knows its token */

typedef Node {
  byte holder;    /* lock:{name}; 0: free */
  byte counter;   /* lock:{name}:token; 0: none */
  byte round;     /* of the hold's last write */
  bit  young;     /* started since the hold was granted */
  byte renewal;
  bit  late;      /* a restoration of an earlier round is still on the way */
  byte rival;
  byte minted;    /* the token that it gave the rival */
};

Node node[3];

#define IDLE    0
#define ASKING  1
#define FENCING 2
#define HELD    3
#define OVER    4

byte phase[3];     /* of HOLD and RIVAL */
byte renewing;     /* 1: extensions, 2: restorations; 0: none */
byte first;        /* holders that the first of these rounds found; of a variant only */
byte token;        /* the rival's */
byte lives;
bit  leased;       /* the rival's hold was */
byte forgot;       /* how often a node has */
bit  owned;        /* the rival has held the lock since the hold was granted */
bit  gap;          /* and it had when the round under way began */
bit  deleted;      /* all keys of the lock were deleted by hand since */

#define EACH(do)  do(0); do(1); do(2)
#define COUNT(is) (is(0) + is(1) + is(2))
#define MAX(a, b) (a > b -> a : b)

#define HAS(n)    (node[n].renewal == DONE)
#define LACKS(n)  (node[n].renewal == FREE)
#define TOOK(n)   (node[n].renewal == TAKEN)
#define GRANTS(n) (node[n].rival == DONE || node[n].rival == KNOWS)
#define KNOW(n)   (node[n].rival == KNOWS)
#define ASKED(n)  (node[n].rival == SENT)
#define RESTS(n)  (node[n].rival == NONE)
#define QUIET(n)  (node[n].renewal == NONE && !node[n].late)

#define BACKED(n) (node[n].renewal == BACK)
#ifdef V_NO_HOLDER
#define SOMEBODY true
#else
#define SOMEBODY (COUNT(HAS) > 0)
#endif
#ifdef V_ADDED_UP
#define VOTES (MAX(first, COUNT(HAS)) + COUNT(BACKED))
#else
#define VOTES (COUNT(HAS) + COUNT(BACKED))
#endif

#include "vouch_sorted.h"

/* restore.lua. A node vouches if it would know of a later holder. */
#ifdef V_NO_COUNTER
#define COUNTER(n) true
#else
#define COUNTER(n) (node[n].counter > 0)
#endif
#ifdef V_NO_COMPARISON
#define LESS(n) true
#else
#define LESS(n) (node[n].counter <= T)
#endif
#ifdef V_NO_UPTIME
#define RAN(n) true
#else
#define RAN(n) !node[n].young
#endif
#define VOUCHES(n) (COUNTER(n) && LESS(n) && RAN(n))

inline write(n, r) {
  node[n].holder = HOLD;
  node[n].round = MAX(node[n].round, r);
  node[n].counter = (node[n].counter == 0 -> T : node[n].counter)
}

inline drop(n) { node[n].holder = 0; node[n].round = 0 }

inline extend_lua(n) {
  if
  :: node[n].holder == HOLD -> write(n, 2); node[n].renewal = DONE
  :: node[n].holder == 0 -> node[n].renewal = FREE
  :: node[n].holder == RIVAL -> node[n].renewal = TAKEN
  fi
}

inline restore_lua(n) {
  if
  :: node[n].holder == HOLD -> write(n, 2); node[n].renewal = DONE
  :: node[n].holder == 0 && VOUCHES(n) -> write(n, 2); node[n].renewal = BACK
  :: node[n].holder == 0 && !VOUCHES(n) -> node[n].renewal = FREE
  :: node[n].holder == RIVAL -> node[n].renewal = TAKEN
  fi
}

/* Nobody waits for its answer any more. */
inline late_lua(n) {
  if
  :: node[n].holder == HOLD || node[n].holder == 0 && VOUCHES(n) -> write(n, 0)
  :: else
  fi
}

/* repair.lua, before anything else happens, or never. */
inline repair_lua(n) {
  if
  :: node[n].renewal == FREE && node[n].holder == 0 ->
    node[n].counter = MAX(node[n].counter, T); write(n, 0)
  :: else
  fi
}

inline ask(n) { node[n].renewal = SENT }

inline part(n) {
  node[n].late = (renewing == 2 && node[n].renewal == SENT -> 1 : node[n].late);
  node[n].renewal = NONE
}

/* A round that did not count: what it wrote lives no less than what came before. */
inline former(n) { node[n].round = (node[n].round == 2 -> 1 : node[n].round) }
inline past(n)   { node[n].round = (node[n].round > 0 -> node[n].round - 1 : 0) }

inline forget(n) { drop(n); node[n].counter = 0; node[n].young = 0; node[n].late = 0;
  node[n].renewal = NONE; node[n].rival = NONE; node[n].minted = 0 }

/* What is over matters no more: all such states are one. */
inline over() {
  EACH(forget); renewing = 0; first = 0; token = 0; lives = 0; leased = 0; forgot = 0; owned = 0; gap = 0; deleted = 0;
  phase[RIVAL] = OVER; phase[HOLD] = OVER
}

proctype Hold() {
end:
  do
  :: d_step { phase[HOLD] == HELD && renewing == 0 -> renewing = 1; gap = owned; EACH(ask); SORT }

  /* judge: confirmed. */
  :: d_step { phase[HOLD] == HELD && renewing > 0 && VOTES >= QUORUM ->
      assert(!gap);
      assert(!deleted);
      EACH(past);
      if
      :: !owned -> EACH(repair_lua)
      :: skip
      fi;
      EACH(part); renewing = 0; gap = 0; first = 0; SORT }
  /* Restorable: somebody has it, and with the nodes that are free that may be a quorum. */
  :: d_step { phase[HOLD] == HELD && renewing == 1 && COUNT(HAS) < QUORUM && SOMEBODY &&
      COUNT(LACKS) > 0 && COUNT(TOOK) <= 1 ->
#ifdef V_ADDED_UP
      first = COUNT(HAS);
#endif
      renewing = 2; gap = owned; EACH(former); EACH(ask); SORT }
  /* Undecided: again, from a start of its own. */
  :: d_step { phase[HOLD] == HELD && renewing > 0 ->
      EACH(former); EACH(part); renewing = 0; gap = 0; first = 0; SORT }
  /* Gone; or its deadline has passed; or it is unlocked. */
  :: d_step { phase[HOLD] == HELD -> over() }
  od
}

#define LEAST(n) (node[n].counter == 0 || node[n].young)
#ifdef V_NO_DATE
#define MINT(n) (node[n].counter + 1)
#else
#define MINT(n) (LEAST(n) -> MAX(node[n].counter + 1, DATE) : node[n].counter + 1)
#endif

inline want(n) { node[n].rival = SENT }
inline top(n)  { token = (node[n].rival == DONE -> MAX(token, node[n].minted) : token) }
inline agrees(n) { node[n].rival = (node[n].rival == DONE && node[n].minted == token -> KNOWS : node[n].rival) }
#ifdef V_TAKES_BACK
#define UNDO true
#else
#define UNDO !leased
#endif

proctype Rival() {
end:
  do
  :: d_step { phase[RIVAL] == IDLE && lives < LIVES ->
      lives++; phase[RIVAL] = ASKING; EACH(want); SORT }
  /* A quorum said yes: its token is the greatest of theirs. */
  :: d_step { phase[RIVAL] == ASKING && COUNT(GRANTS) >= QUORUM ->
      EACH(top); EACH(agrees); phase[RIVAL] = FENCING; SORT }
  /* hold.fence: a quorum knows it. */
#ifdef V_ONE_ROUND
  :: d_step { phase[RIVAL] == FENCING ->
#else
  :: d_step { phase[RIVAL] == FENCING && COUNT(KNOW) >= QUORUM ->
#endif
      assert(forgot || phase[HOLD] != HELD);
      phase[RIVAL] = HELD; leased = 1; owned = 1; SORT }
  /* It gives back, or is over. */
  :: d_step { phase[RIVAL] == ASKING || phase[RIVAL] == FENCING ->
      phase[RIVAL] = OVER; SORT }
  :: d_step { phase[RIVAL] == HELD -> phase[RIVAL] = OVER; token = 0; SORT }
  :: d_step { phase[RIVAL] == OVER && phase[HOLD] == HELD && COUNT(RESTS) == 3 ->
      phase[RIVAL] = IDLE; token = 0; leased = 0; SORT }
  od
}

#define N node[n]

/* The way to one node, what it does, and what happens to it. */
proctype Wire(byte n) {
end:
  do
  :: d_step { N.renewal == SENT && renewing == 1 -> extend_lua(n); SORT }
  :: d_step { N.renewal == SENT && renewing == 2 -> restore_lua(n); SORT }
  :: d_step { N.late -> late_lua(n); N.late = 0; SORT }
  :: d_step { N.late -> N.late = 0; SORT }

  :: d_step { N.rival == SENT && phase[RIVAL] == ASKING && N.holder == 0 ->
      N.counter = MINT(n); N.minted = N.counter; N.holder = RIVAL; N.rival = DONE; SORT }
  :: d_step { phase[RIVAL] == FENCING && N.rival == DONE && N.holder == RIVAL ->
      N.counter = MAX(N.counter, token); N.rival = KNOWS; SORT }
  /* A release; or a give-back, which takes the token back. */
  :: d_step { phase[RIVAL] == OVER && N.rival != NONE ->
      if
      :: N.holder == RIVAL -> drop(n);
        if
        :: UNDO -> N.counter = (N.counter > 1 -> N.counter - 1 : N.counter)
        :: else
        fi
      :: else
      fi;
      N.rival = NONE; N.minted = 0; SORT }
  /* Its key expires in place of that. */
  :: d_step { phase[RIVAL] == OVER && N.rival != NONE ->
      if
      :: N.holder == RIVAL -> drop(n)
      :: else
      fi;
      N.rival = NONE; N.minted = 0; SORT }

  :: d_step { N.holder == HOLD && N.round == 0 -> drop(n); SORT }
#ifdef FORGET
/* Not what the rival is being granted: with that it would have no quorum either. */
#define ONGOING    (phase[RIVAL] == ASKING || phase[RIVAL] == FENCING)
#define MAY_FORGET (phase[HOLD] == HELD && forgot < FORGET && !(ONGOING && GRANTS(n)))
  /* Somebody ends the lock by hand, while nothing is on the way. */
  :: d_step { n == 0 && MAY_FORGET && !ONGOING && renewing == 0 && COUNT(QUIET) == 3 ->
      EACH(drop); deleted = 1; forgot++; SORT }
  /* A key is deleted or evicted. */
  :: d_step { MAY_FORGET && N.holder != 0 -> drop(n); forgot++; SORT }
  /* All is flushed. */
  :: d_step { MAY_FORGET && N.counter > 0 -> drop(n); N.counter = 0; forgot++; SORT }
  /* It is started again: with nothing, or an old snapshot, without keys that had little time left. */
  :: d_step { MAY_FORGET -> drop(n); N.counter = 0; N.young = 1; forgot++; SORT }
  :: d_step { MAY_FORGET && N.counter >= T - 1 ->
      drop(n); N.counter = T - 1; N.young = 1; forgot++; SORT }
#endif
  od
}

/* A past of its own: what a node knows that had no part in it. */
inline stranger(n) {
  if
  :: node[n].counter = 0
  :: node[n].counter = T - 1
  :: node[n].counter = T
  :: node[n].counter = T + 1
  fi
}

init {
  atomic {
    node[0].holder = HOLD; node[0].counter = T; node[0].round = 1;
    node[1].holder = HOLD; node[1].counter = T; node[1].round = 1;
    stranger(2);
    if
    :: node[2].counter > 0 -> node[2].holder = HOLD; node[2].round = 1
    :: skip
    fi;
    phase[HOLD] = HELD;
    SORT;
    run Hold(); run Rival();
    run Wire(0); run Wire(1); run Wire(2)
  }
}
