/*
 * Permits of a semaphore: three nodes, two permits, three clients that want one each. A permit is a numbered
 * slot that a quorum of nodes has given to a hold.
 *
 * Messages run at any time after they were sent, in any order, and, where it matters, twice. A node keeps
 * what it acknowledged; lock.pml has what comes of it if not, and of deadlines. Of n slots each is as one.
 *
 * Parts: NAMED  slots are asked for by name when nodes differ, and nodes that differ from a quorum are told the slot
 *               that it gave; then there are two clients
 *        LATE_TOO  commands may also run after their hold is over; otherwise they come before that, or never
 * V_...: variants that must fail.
 */

#define N      3
#ifdef NAMED
#define C      2
#else
#define C      3
#endif
#define QUORUM 2
#define NONE   0   /* slots are 1 and 2 */

#ifdef V_NO_ID
#define RELEASES 2
#else
#define RELEASES 1  /* a second one would find nothing, and the mark keeps it so */
#endif

#define IDLE   0
#define ASKS   1   /* for the lowest free slot of each node */
#define NAMES  2   /* for the slot that it has chosen of those that nodes gave */
#define HOLDS  3
#define OVER   4

typedef Pair {
  unsigned ask : 1;      /* on the way */
  unsigned name : 1;     /* on the way */
  unsigned repair : 1;   /* on the way */
  unsigned release : 2;  /* on the way, so many times */
  unsigned first : 2;    /* the slot in the answer to ask */
  unsigned second : 2;   /* the slot in the answer to name */
  unsigned mark : 1;     /* the hold id is void */
};

typedef Node {
  byte holder[3];  /* by slot: client, from 1; slot 0 is not used */
  Pair with[C];
};

Node node[N];
byte phase[C];
byte mine[C];    /* the slot that a client asks for by name, or holds */

#define P(n, c)  node[n].with[c]
#define HAS(n, c, s)  (node[n].holder[s] == c + 1)
#define FREE(n, s)    (node[n].holder[s] == 0)

/* What a node gives that has nothing of the hold yet. */
inline lowest(n, c) {
  got = NONE;
  if
  :: FREE(n, 1) -> got = 1
  :: !FREE(n, 1) && FREE(n, 2) -> got = 2
  :: else
  fi;
  if
  :: got != NONE -> node[n].holder[got] = c + 1
  :: else
  fi
}

/* The slot that the hold has here. */
inline has(n, c) {
  got = (HAS(n, c, 1) -> 1 : (HAS(n, c, 2) -> 2 : NONE))
}

/* permit_acquire.lua, for the lowest slot. */
inline run_ask(n, c) {
  P(n, c).ask = 0;
  has(n, c);
  if
#ifdef V_ASKED_AGAIN
  :: got == 2 && FREE(n, 1) -> node[n].holder[2] = 0; node[n].holder[1] = c + 1; got = 1
#endif
  :: got == NONE && !P(n, c).mark -> lowest(n, c)
  :: else
  fi;
  P(n, c).first = got
}

/* permit_acquire.lua, by name, in a later round. */
inline run_name(n, c) {
  P(n, c).name = 0;
  has(n, c);
  if
  :: P(n, c).mark
  :: !P(n, c).mark && FREE(n, mine[c]) ->
     if
     :: got != NONE -> node[n].holder[got] = 0
     :: else
     fi;
     node[n].holder[mine[c]] = c + 1;
     got = mine[c]
  :: !P(n, c).mark && !FREE(n, mine[c]) && got == NONE -> lowest(n, c)
  :: else
  fi;
  P(n, c).second = got
}

/* permit_repair.lua. */
inline run_repair(n, c) {
  P(n, c).repair = 0;
  has(n, c);
  if
  :: got != NONE && got != mine[c] -> node[n].holder[got] = 0
  :: else
  fi;
  if
#ifdef V_REPAIR_TAKES
  :: !P(n, c).mark -> node[n].holder[mine[c]] = c + 1
#else
  :: !P(n, c).mark && FREE(n, mine[c]) -> node[n].holder[mine[c]] = c + 1
#endif
  :: else
  fi
}

/* permit_release.lua. */
inline run_release(n, c) {
  P(n, c).release = P(n, c).release - 1;
#ifdef V_NO_ID
  got = (P(n, c).second != NONE -> P(n, c).second : P(n, c).first);
  node[n].holder[got] = 0;
#else
  has(n, c);
  node[n].holder[got] = 0;
#endif
  P(n, c).mark = 1
}

#define GAVE(what, c, s)  ((P(0, c).what == s) + (P(1, c).what == s) + (P(2, c).what == s))
#define AGREED(what, c, s) (GAVE(what, c, s) >= QUORUM)
#define ENOUGH(c)          (3 - GAVE(first, c, NONE) >= QUORUM)

#define EACH(c, what, value) \
  node[0].with[c].what = value; node[1].with[c].what = value; node[2].with[c].what = value

/* What it was told is of no use any more, and would only keep states apart. */
inline forget(c) {
#ifndef V_NO_ID
  EACH(c, first, NONE);
  EACH(c, second, NONE)
#else
  skip
#endif
}

inline over(c) {
  phase[c] = OVER;
  EACH(c, release, RELEASES);
#ifndef LATE_TOO
  EACH(c, ask, 0); EACH(c, name, 0); EACH(c, repair, 0);
#endif
  forget(c)
}

/* A quorum agrees: nodes that gave another slot are told, and those that gave none. */
inline holds(c, won) {
  phase[c] = HOLDS;
  mine[c] = won;
#ifdef V_GIVE_WON
  if   /* a node that gave it is told to take it back */
  :: HAS(0, c, won) -> node[0].holder[won] = 0
  :: !HAS(0, c, won) && HAS(1, c, won) -> node[1].holder[won] = 0
  :: else -> node[2].holder[won] = 0
  fi;
#endif
#ifdef NAMED
  node[0].with[c].repair = !HAS(0, c, won);
  node[1].with[c].repair = !HAS(1, c, won);
  node[2].with[c].repair = !HAS(2, c, won);
#endif
  forget(c)
}

inline check() {
#ifndef V_COUNT
  assert(!(phase[0] == HOLDS && phase[1] == HOLDS && mine[0] == mine[1]));
#endif
#ifndef NAMED
#ifndef V_COUNT
  assert(!(phase[0] == HOLDS && phase[2] == HOLDS && mine[0] == mine[2]));
  assert(!(phase[1] == HOLDS && phase[2] == HOLDS && mine[1] == mine[2]));
#endif
  assert(!(phase[0] == HOLDS && phase[1] == HOLDS && phase[2] == HOLDS));
#endif
  skip
}

#define DONE  got = NONE; node[0].holder[0] = 0; node[1].holder[0] = 0; node[2].holder[0] = 0; check()

#define STARTS(c, ready) \
  :: d_step { phase[c] == IDLE && (ready) -> phase[c] = ASKS; EACH(c, ask, 1) }
#define ENDS(c) \
  :: d_step { phase[c] == ASKS || phase[c] == NAMES || phase[c] == HOLDS -> over(c); DONE }
#define WINS(c, s) \
  :: d_step { phase[c] == ASKS && AGREED(first, c, s) -> holds(c, s); DONE }
#define CHOOSES(c, s) \
  :: d_step { phase[c] == ASKS && ENOUGH(c) -> phase[c] = NAMES; mine[c] = s; EACH(c, name, 1) } \
  :: d_step { phase[c] == NAMES && AGREED(second, c, s) -> holds(c, s); DONE }
/* Nothing is kept that is of no use any more: it would only keep states apart. */
#define LATE(n, c)  (P(n, c).ask || P(n, c).name || P(n, c).repair)
#define CALM(n, c) \
  P(n, c).mark = P(n, c).mark && LATE(n, c); \
  mine[c] = (phase[c] == OVER && !LATE(0, c) && !LATE(1, c) && !LATE(2, c) -> NONE : mine[c]); DONE
#define RUNS(n, c) \
  :: d_step { P(n, c).ask -> run_ask(n, c); CALM(n, c) } \
  :: d_step { P(n, c).name -> run_name(n, c); CALM(n, c) } \
  :: d_step { P(n, c).repair -> run_repair(n, c); CALM(n, c) } \
  :: d_step { P(n, c).release -> run_release(n, c); CALM(n, c) }

#ifdef V_COUNT
#define CLIENT(c) \
  :: d_step { phase[c] == ASKS && ENOUGH(c) -> phase[c] = HOLDS; DONE } \
  ENDS(c) RUNS(0, c) RUNS(1, c) RUNS(2, c)
#else
#ifdef NAMED
#define CLIENT(c) WINS(c, 1) WINS(c, 2) CHOOSES(c, 1) CHOOSES(c, 2) ENDS(c) RUNS(0, c) RUNS(1, c) RUNS(2, c)
#else
#define CLIENT(c) WINS(c, 1) WINS(c, 2) ENDS(c) RUNS(0, c) RUNS(1, c) RUNS(2, c)
#endif
#endif

proctype World() {
  byte got;
end:
  do
  STARTS(0, true)   /* they are alike: one after the other */
  STARTS(1, phase[0] != IDLE)
  CLIENT(0)
  CLIENT(1)
#ifndef NAMED
  STARTS(2, phase[1] != IDLE)
  CLIENT(2)
#endif
  od
}

init { run World() }
