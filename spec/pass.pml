/*
 * Passing on: two processes want one name, with two goroutines each. A process holds it for a
 * tenure, within which its goroutines have it one after the other without a word to the nodes.
 *
 * It mirrors contest.pass and tenure.due in lock/pass.go, tenure.suits in lock/sharing.go, tenure.ask and
 * tenure.answered in lock/reserve.go, hold.release in lock/release.go, and acquisition.quit in
 * lock/acquire.go. README.md says what is left out. The nodes are one here: that a quorum of
 * several is as good is lock.pml's matter, and tokens are token.pml's.
 *
 * Time: a tenure's deadline may pass at any moment, and its key expire at any moment after that.
 * What is bounded by time in the library is bounded by a number of holds here: STALE for the age
 * of an answer of the nodes, MOST for a tenure while others wait.
 *
 * Parts: EXPIRE  deadlines pass, and processes crash
 *        FORCED  somebody ends the lock by hand, once
 *        CANCEL  who waits may give up, at the moment at which it is passed the lock, too
 *        LIVES   how often each goroutine wants it
 * V_...: variants that must fail.
 */

#ifndef LIVES
#define LIVES 2
#endif
#define STALE 1
#define MOST  2

/* A tenure. */
#define NONE    0
#define HELD    1  /* a hold is in progress, or its owner has yet to wake */
#define VACANT  2  /* who is next waits for the nodes' answer */
#define ENDING  3  /* the release is on its way */

/* A goroutine. */
#define IDLE    0
#define WAITS   1
#define PASSED  2  /* it has the lock, and does not know yet */
#define HOLDS   3

/* What the nodes are asked, and their answer. */
#define SENT    1
#define FINE    2
#define OTHERS  3
#define GONE    4

typedef Process {
  byte tenure;
  byte hold;     /* whose hold is in progress: 1 + its number */
  byte holds;    /* of the tenure */
  byte left;     /* holds until it must have heard from the nodes again */
  byte answer;
  bit  others;   /* by the last answer, others wait */
  bit  over;     /* the tenure's deadline has passed */
  bit  fresh;    /* the hold in progress has a deadline of its own; of a variant only */
  bit  crashed;
  byte reign;    /* holds that it began in this tenure since the other process has waited */
  byte since;    /* holds that it began since the lock was ended by hand */
};

Process process[2];
byte state[4];   /* of goroutines: 0 and 1 are the first process's */
byte lives[4];
byte holder;     /* lock:{name}: 1 + the process that has it; 0: free */
bit  forced;     /* the lock was ended by hand, and the first process, which had it, does not know yet */
bit  ended;      /* it was */

#define ME       process[p]
#define FIRST    (2 * p)
#define SECOND   (2 * p + 1)
#define WANTED(p)  (state[2 * (p)] == WAITS || state[2 * (p) + 1] == WAITS)
#define VALID(p)   (process[p].tenure != NONE && process[p].hold > 0 && (!process[p].over || process[p].fresh))

#ifdef V_FOR_EVER
#define DUE false
#else
#define DUE (ME.others && ME.holds >= MOST)
#endif

#ifdef V_PASSES_LATE
#define SUITS true
#else
#define SUITS (!ME.over)
#endif

#ifdef V_UNNOTICED
#define THERE true
#else
#define THERE (holder == 1 + p)
#endif

/* A hold of goroutine g begins. */
inline begin(p, g) {
  ME.hold = g + 1;
  ME.tenure = HELD;
  ME.holds = (ME.holds < 9 -> ME.holds + 1 : 9);
  ME.left = (ME.left > 0 -> ME.left - 1 : 0);
  ME.reign = (WANTED(1 - p) -> ME.reign + 1 : 0);
  process[1 - p].reign = 0;
  ME.since = (forced && p == 0 -> ME.since + 1 : 0);
  assert(!(VALID(0) && VALID(1)) || forced);
  assert(ME.reign <= 2 * STALE);
  assert(ME.since <= 2 * STALE)
}

inline clear(p) {
  ME.hold = 0; ME.holds = 0; ME.left = 0; ME.others = 0; ME.over = 0; ME.fresh = 0;
  ME.reign = 0; ME.since = 0
}

/* contest.pass, when no hold is in progress. */
inline pass(p) {
  ME.hold = 0;
  if
  :: !WANTED(p) || !SUITS || DUE -> ME.tenure = ENDING
  :: else ->
    if
    :: ME.left == 0 -> ME.tenure = VACANT
    :: else ->
#ifdef V_PASSES_LATE
      ME.fresh = 1;
#endif
      if
      :: state[FIRST] == WAITS -> state[FIRST] = PASSED; begin(p, FIRST)
      :: state[SECOND] == WAITS -> state[SECOND] = PASSED; begin(p, SECOND)
      fi
    fi
  fi
}

/* tenure.lose: the hold in progress knows it from now on. */
inline lose(p) {
  if
  :: ME.hold > 0 -> state[ME.hold - 1] = IDLE
  :: else
  fi;
  forced = (p == 0 -> 0 : forced);
  clear(p); ME.tenure = NONE;
  holder = (holder == 1 + p -> 0 : holder)
}

proctype Goroutine(byte p; byte g) {
end:
  do
  :: d_step { state[g] == IDLE && !ME.crashed && lives[g] < LIVES -> lives[g]++; state[g] = WAITS }

  /* An attempt, as the process does not have the name: somebody has told of its end, or it polls. */
  :: d_step { state[g] == WAITS && ME.tenure == NONE && holder == 0 ->
      holder = 1 + p; state[g] = HOLDS; ME.left = 0; begin(p, g) }

  :: d_step { state[g] == PASSED -> state[g] = HOLDS }
  /* Unlock. */
  :: d_step { state[g] == HOLDS && ME.hold == g + 1 && ME.tenure == HELD -> state[g] = IDLE; pass(p) }
#ifdef V_OUTLIVES
  :: d_step { state[g] == HOLDS && ME.hold == g + 1 && ME.tenure == ENDING -> state[g] = IDLE; ME.hold = 0 }
#endif
#ifdef CANCEL
  :: d_step { state[g] == WAITS ->
      state[g] = IDLE; process[1 - p].reign = (WANTED(p) -> process[1 - p].reign : 0) }
  :: d_step { state[g] == PASSED ->
      state[g] = IDLE;
#ifndef V_LEAKS
      if
      :: ME.tenure == HELD -> pass(p)
      :: else
      fi
#endif
    }
#endif
  od
}

proctype Tenure(byte p) {
end:
  do
  /* reserve.lua */
  :: d_step { (ME.tenure == HELD || ME.tenure == VACANT) && ME.answer == NONE && ME.left < STALE &&
      (WANTED(p) || ME.tenure == VACANT) -> ME.answer = SENT }
  :: d_step { ME.answer == SENT ->
      if
      :: !THERE -> ME.answer = GONE
      :: THERE && WANTED(1 - p) -> ME.answer = OTHERS
      :: THERE && !WANTED(1 - p) -> ME.answer = FINE
      fi }
  /* tenure.answered */
  :: d_step { ME.answer > SENT && ME.tenure != HELD && ME.tenure != VACANT -> ME.answer = NONE }
  :: d_step { ME.answer == GONE && (ME.tenure == HELD || ME.tenure == VACANT) -> ME.answer = NONE; lose(p) }
  :: d_step { (ME.answer == FINE || ME.answer == OTHERS) && (ME.tenure == HELD || ME.tenure == VACANT) ->
      ME.others = (ME.answer == OTHERS); ME.answer = NONE; ME.left = STALE;
      if
      :: ME.tenure == VACANT -> pass(p)
      :: else
      fi }

#ifdef V_OUTLIVES
  :: d_step { ME.tenure == HELD && DUE -> ME.tenure = ENDING }
  :: d_step { ME.tenure == ENDING && ME.hold > 0 && holder == 1 + p -> holder = 0 }
#endif
  /* release.lua; nothing is passed on any more, and no answer counts. */
  :: d_step { ME.tenure == ENDING && ME.hold == 0 && ME.answer == NONE ->
      forced = (p == 0 -> 0 : forced);
      holder = (holder == 1 + p -> 0 : holder); clear(p); ME.tenure = NONE }

#ifdef EXPIRE
  :: d_step { ME.tenure != NONE && !ME.over -> ME.over = 1 }
  :: d_step { ME.over && holder == 1 + p -> holder = 0 }
  /* A lease looks at the clock. */
  :: d_step { ME.over && !ME.fresh && (ME.tenure == HELD || ME.tenure == VACANT) -> lose(p) }
  :: d_step { ME.tenure != NONE && !ME.crashed && p == 1 ->
      ME.crashed = 1; clear(p); ME.tenure = NONE; ME.answer = NONE;
      state[FIRST] = IDLE; state[SECOND] = IDLE; lives[FIRST] = LIVES; lives[SECOND] = LIVES }
  :: d_step { ME.crashed && holder == 1 + p -> holder = 0 }
#endif
#ifdef FORCED
  :: d_step { p == 0 && holder == 1 + p && ME.tenure == HELD && !ended -> holder = 0; forced = 1; ended = 1 }
#endif
  od
}

/* When nothing can happen any more, nobody waits and nothing is held. */
proctype Judge() {
end:
  timeout ->
    assert(state[0] + state[1] + state[2] + state[3] == 0 /* stuck */);
    assert(holder == 0 /* holder */)
}

init {
  atomic {
    run Goroutine(0, 0); run Goroutine(0, 1); run Goroutine(1, 2); run Goroutine(1, 3);
    run Tenure(0); run Tenure(1); run Judge()
  }
}
