/*
 * The others' chance: a process that is far from the nodes wants a name that others have one hold after the other. Each of
 * those is near, and has one goroutine, of which nobody waits when a hold ends: it could always be back before the far one
 * has heard of that.
 *
 * It mirrors contest.yield and contest.published in lock/wake.go, rivals in lock/rivals.go, contest.learn in
 * lock/reserve.go, core.won in lock/attempt.go, contender.turn and contender.overtaken in lock/contender.go, and what
 * acquire.lua tells of marks. README.md says what is left out.
 *
 * Time: what is near takes none. A message to the far one and its requests take any time, but for the one thing that its
 * mark asks for: a chance is not over before a request has come that was made for the release before it. A reign is
 * bounded by a number of holds here.
 *
 * Parts: NEAR    how many are near
 *        LIVES   how often each of them wants the name
 *        CANCEL  the far one may give up
 * V_...: variants that must fail.
 */

#ifndef NEAR
#define NEAR 1
#endif
#ifndef LIVES
#define LIVES 12
#endif
#define MOST   2   /* holds of a reign */
#define OFTEN  2   /* overtakings, before the far one says that it is far */
#define BOUND  (NEAR * MOST)

#define IDLE   0
#define WAITS  1
#define HOLDS  2

#define FAR    (NEAR + 1)

typedef Process {
  byte state;
  byte lives;
  byte reign;    /* holds since it left the others a chance; 0: it does not count them */
  bit  chance;   /* it leaves the name to others */
  bit  waited;   /* the chance is over, and nobody is known to have come */
  bit  mark;     /* it has heard of one */
  bit  news;     /* the node has a newer one */
  bit  owed;     /* who left it has not had the name since */
  bit  spent;    /* who left it did not come, and is not waited for again */
};

Process near[NEAR];
byte holder;     /* 1 + its number; 0: the name is free */

byte far;        /* its state */
byte lives;      /* how often it wants the name still */
bit  asks;       /* its request is on its way */
bit  told;       /* a message to it is */
byte overtaken;
bit  said;       /* it has said so since it waits */

byte reigns;     /* holds of others since then */

#define ME near[p]

#ifdef V_UNTOLD
#define TELLS false
#else
#define TELLS (ME.news)
#endif

#ifdef V_FORGOTTEN
#define MINDS false
#else
#define MINDS (ME.owed)
#endif

/* rivals.won, and what the grant tells */
inline grant(p) {
  holder = p + 1;
  ME.state = HOLDS;
  ME.lives--;
  ME.spent = ME.spent || (ME.owed && ME.waited);
  ME.owed = (ME.mark && !ME.spent);
  ME.waited = 0;
  if
  :: TELLS -> ME.mark = 1; ME.news = 0; ME.owed = 1; ME.spent = 0
  :: else
  fi;
  ME.reign = (ME.reign < MOST -> ME.reign + 1 : MOST);
  reigns = (said -> reigns + 1 : 0);
  assert(reigns <= BOUND)
}

proctype Near(byte p) {
  byte i;
end:
  do
  :: d_step { ME.state == IDLE && ME.lives > 0 -> ME.state = WAITS }

  :: d_step { ME.state == WAITS && !ME.chance && holder == 0 -> grant(p) }
  /* Somebody else has come: rivals.overtaken. */
  :: d_step { ME.state == WAITS && !ME.chance && ME.waited && holder != 0 -> ME.waited = 0 }

  /* Unlock: contest.yield, and the message to others. */
  :: d_step { ME.state == HOLDS ->
      ME.state = (ME.lives > 0 -> WAITS : IDLE); holder = 0; told = (far == WAITS);
      if
      :: !MINDS -> ME.reign = 0
      :: MINDS && ME.reign >= MOST -> ME.reign = 0; ME.chance = 1
#ifdef V_NOT_COUNTED
      :: MINDS && ME.reign < MOST -> ME.reign = 0
#else
      :: MINDS && ME.reign < MOST
#endif
      fi;
      /* contest.published, and rivals.heard: who is near and waits hears of it at once. */
      for (i : 0 .. NEAR - 1) {
        if
        :: i != p && near[i].state == WAITS ->
          near[i].waited = 0; near[i].reign = 0;
#ifndef V_FOR_ITSELF
          near[i].chance = near[i].owed
#endif
        :: else
        fi
      };
      i = 0 }

  /* The chance is over: nobody has come who is on the way. */
#ifdef V_SHORT
  :: d_step { ME.chance -> ME.chance = 0; ME.waited = 1 }
#else
  :: d_step { ME.chance && !(far == WAITS && (asks || told)) -> ME.chance = 0; ME.waited = 1 }
#endif
  od
}

proctype Far() {
  byte i;
end:
  do
  :: d_step { far == IDLE && lives > 0 && !asks -> far = WAITS; lives--; asks = 1; told = 0 }

  /* A request comes. */
  :: d_step { asks && far == WAITS && holder == 0 -> asks = 0; holder = FAR; far = HOLDS; overtaken = 0; said = 0; reigns = 0 }
  :: d_step { asks && far == WAITS && holder != 0 ->
      asks = 0;
      overtaken = (overtaken < OFTEN -> overtaken + 1 : OFTEN);
      if
      :: overtaken == OFTEN -> said = 1; for (i : 0 .. NEAR - 1) { near[i].news = 1 }; i = 0
      :: else
      fi }

  :: d_step { told && far == WAITS && !asks -> told = 0; asks = 1 }

  :: d_step { far == HOLDS ->
      far = IDLE; holder = 0;
      for (i : 0 .. NEAR - 1) {
        if
        :: near[i].state == WAITS -> near[i].owed = 0; near[i].waited = 0; near[i].reign = 0; near[i].chance = 0
        :: else
        fi
      };
      i = 0 }

#ifdef CANCEL
  :: d_step { far == WAITS -> far = IDLE; told = 0; said = 0; reigns = 0 }
  :: d_step { far == IDLE && asks -> asks = 0 }
#endif
  od
}

/* When nothing can happen any more, nobody waits and nobody holds. */
proctype Judge() {
  byte i;
end:
  timeout ->
    for (i : 0 .. NEAR - 1) { assert(near[i].state == IDLE /* stuck */) };
    assert(far == IDLE /* stuck */);
    assert(holder == 0 /* holder */)
}

init {
  byte i;
  atomic {
    for (i : 0 .. NEAR - 1) { near[i].lives = LIVES; run Near(i) };
    i = 0;
    lives = 2;
    run Far(); run Judge()
  }
}
