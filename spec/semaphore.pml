/*
 * Permits of a semaphore: three nodes, two permits, three clients that want one each. A permit is a numbered
 * slot that a quorum of nodes has given to a hold.
 *
 * Messages run at any time after they were sent, in any order, and releases also twice. A node keeps
 * what it acknowledged; lock.pml has what comes of it if not, and of deadlines. Of n slots each is as one.
 *
 * Parts: NAMED  slots are asked for by name when nodes differ; then there are two clients
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

#define P  node[n].with[c]
#define HAS(n, c, s)  (node[n].holder[s] == c + 1)
#define FREE(n, s)    (node[n].holder[s] == 0)

/* What a node gives that has nothing of the hold yet. */
inline lowest() {
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
inline has() {
  got = (HAS(n, c, 1) -> 1 : (HAS(n, c, 2) -> 2 : NONE))
}

/* permit_acquire.lua, for the lowest slot. */
inline run_ask() {
  P.ask = 0;
  has();
  if
#ifdef V_ASKED_AGAIN
  :: got == 2 && FREE(n, 1) -> node[n].holder[2] = 0; node[n].holder[1] = c + 1; got = 1
#endif
  :: got == NONE && !P.mark -> lowest()
  :: else
  fi;
  P.first = got
}

/* permit_acquire.lua, by name, in a later round. */
inline run_name() {
  P.name = 0;
  has();
  if
  :: P.mark
  :: !P.mark && FREE(n, mine[c]) ->
     if
     :: got != NONE -> node[n].holder[got] = 0
     :: else
     fi;
     node[n].holder[mine[c]] = c + 1;
     got = mine[c]
  :: !P.mark && !FREE(n, mine[c]) && got == NONE -> lowest()
  :: else
  fi;
  P.second = got
}

/* permit_repair.lua. */
inline run_repair() {
  P.repair = 0;
  has();
  if
  :: got != NONE && got != mine[c] -> node[n].holder[got] = 0
  :: else
  fi;
  if
#ifdef V_REPAIR_TAKES
  :: !P.mark -> node[n].holder[mine[c]] = c + 1
#else
  :: !P.mark && FREE(n, mine[c]) -> node[n].holder[mine[c]] = c + 1
#endif
  :: else
  fi
}

/* permit_release.lua. */
inline run_release() {
  P.release = P.release - 1;
#ifdef V_NO_ID
  got = (P.second != NONE -> P.second : P.first);
  node[n].holder[got] = 0;
#else
  has();
  node[n].holder[got] = 0;
#endif
  P.mark = 1
}

#define GAVE1(n, s)  (node[n].with[c].first == s)
#define GAVE2(n, s)  (node[n].with[c].second == s)
#define AGREED(g, s) (g(0, s) + g(1, s) + g(2, s) >= QUORUM)
#define SOME(g)      (!g(0, NONE) + !g(1, NONE) + !g(2, NONE))

#define EACH(what, value) \
  node[0].with[c].what = value; node[1].with[c].what = value; node[2].with[c].what = value

/* What it was told is of no use any more, and would only keep states apart. */
inline forget() {
#ifndef V_NO_ID
  EACH(first, NONE);
  EACH(second, NONE)
#else
  skip
#endif
}

inline over() {
  phase[c] = OVER;
  EACH(release, 2);
  forget()
}

/* A quorum agrees: nodes that gave another slot are told, and those that gave none. */
inline holds() {
  phase[c] = HOLDS;
  mine[c] = won;
#ifdef V_GIVE_WON
  if   /* a node that gave it is told to take it back */
  :: HAS(0, c, won) -> node[0].holder[won] = 0
  :: HAS(1, c, won) -> node[1].holder[won] = 0
  :: HAS(2, c, won) -> node[2].holder[won] = 0
  fi;
#endif
  node[0].with[c].repair = !HAS(0, c, won);
  node[1].with[c].repair = !HAS(1, c, won);
  node[2].with[c].repair = !HAS(2, c, won);
  forget()
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

proctype World() {
  byte c, n, got, won;
  do
  :: atomic {
       c = 0; n = 0; got = 0; won = 0;
       select (c : 0 .. C - 1);
       if
       :: phase[c] == IDLE && (c == 0 || phase[c - 1] != IDLE) -> phase[c] = ASKS;  /* they are alike */
          EACH(ask, 1)
#ifdef V_COUNT
       :: phase[c] == ASKS && SOME(GAVE1) >= QUORUM -> phase[c] = HOLDS
#else
       :: phase[c] == ASKS && AGREED(GAVE1, 1) -> won = 1; holds()
       :: phase[c] == ASKS && AGREED(GAVE1, 2) -> won = 2; holds()
#ifdef NAMED
       :: phase[c] == ASKS && SOME(GAVE1) >= QUORUM -> phase[c] = NAMES; mine[c] = 1; EACH(name, 1)
       :: phase[c] == ASKS && SOME(GAVE1) >= QUORUM -> phase[c] = NAMES; mine[c] = 2; EACH(name, 1)
       :: phase[c] == NAMES && AGREED(GAVE2, 1) -> won = 1; holds()
       :: phase[c] == NAMES && AGREED(GAVE2, 2) -> won = 2; holds()
#endif
#endif
       :: phase[c] == ASKS || phase[c] == NAMES || phase[c] == HOLDS -> over()  /* gives up, is done */
       :: phase[c] != IDLE ->
          select (n : 0 .. 2);
          if
          :: P.ask -> run_ask()
          :: P.name -> run_name()
          :: P.repair -> run_repair()
          :: P.release -> run_release()
          :: else
          fi
       :: else
       fi;
       node[0].holder[0] = 0; node[1].holder[0] = 0; node[2].holder[0] = 0;
       c = 0; n = 0; got = 0; won = 0;
       check()
     }
  od
}

init { run World() }
