/*
 * What keeps a lock taken when nobody works under it any more: for a rest after an unclean end, and until a minimum
 * hold is over.
 *
 * It mirrors lock/linger.go and lua/keep.lua: a key has a TTL for all of that from the grant on, a lease is valid for
 * less, and whoever ends it shortens the key instead of deleting it. Three nodes, whose clocks tick together. Client A
 * wants the lock to stay taken, client B asks for it again and again. A unlocks or notices its loss at any tick, or
 * does neither, as it has crashed. Its commands come in any order, late, or never; what keeps a key is sent twice, but
 * with RENEW once. How B gives back what it cannot use is lock.pml's subject.
 *
 * Parts: REST     how long the lock rests after an unclean end, ticks
 *        LEAST    how long it stays taken at the least, ticks
 *        RENEW    A renews once
 *        RESTART  a node forgets everything once, and stays out for a while
 *        SORTED   states that differ only in the numbers of nodes are one
 * V_...: variants that must fail.
 */

#define N      3
#define QUORUM 2
#define TTL    2

#ifndef REST
#define REST 0
#endif
#ifndef LEAST
#define LEAST 0
#endif

#define MAX(a, b) (a > b -> a : b)

#ifdef V_BY_CLIENT        /* nobody but A sees to the rest */
#define TAIL 0
#else
#define TAIL REST
#endif
#define LIFE (MAX(TTL, LEAST) + TAIL)   /* of a key that was granted */
#ifdef V_VALID_TO_THE_END
#define VALID (TTL + REST)
#else
#define VALID TTL
#endif
#ifdef V_SHORT_GUARD
#define GUARD TTL
#else
#define GUARD LIFE
#endif

#ifdef RENEW
#define END  (2 * TTL + LIFE)   /* nothing is left to happen then */
#define SENT 1                  /* how often a node may be told to keep the key */
#else
#define END  (TTL + LIFE)
#define SENT 2
#endif

#define NOBODY 0
#define A      1
#define B      2

mtype = { idle, asks, refused, holds, unlocked, lost };

typedef Node {
  unsigned owner : 2;
  bit  lingers;       /* A's hold has ended here, and the key stays */
  unsigned ttl : 4;
  unsigned out : 4;   /* for so long it grants nothing */
  byte limit;         /* when A's key must be over */
  /* Commands on the way, and answers that have come. */
  bit  acquire; bit granted;
  bit  extend; bit extended;
  unsigned keep : 2;  /* so often it may yet come */
  bit  release;
  bit  rival; bit rivals;
};

Node node[N];
byte now;
mtype phase = idle;   /* of A */
byte start;           /* of the round by which A's lease is valid */
byte left;            /* for how long the lock is to be kept */
bit  renews;
byte renewal;         /* start of the renewal */
bit  restarted;
bit  waits;           /* B has asked */
byte began;           /* then */
bit  won;             /* B has the lock */

/* What is promised: a rest after an unclean end, a minimum, and no more than that. */
bit rested;
bit stayed;
bit within;

#define TOOK (phase == holds || phase == unlocked || phase == lost)

#define COUNT(f) (node[0].f + node[1].f + node[2].f)

#define ALL(f)   node[0].f = 1; node[1].f = 1; node[2].f = 1
#define NONE(f)  node[0].f = 0; node[1].f = 0; node[2].f = 0

/* The numbers of nodes */

#ifdef SORTED
byte swapped;
#define SWAP(f) swapped = node[a].f; node[a].f = node[b].f; node[b].f = swapped
#define STATE(n) (node[n].owner + (node[n].lingers << 2) + (node[n].ttl << 3) + (node[n].out << 7) + (node[n].limit << 11) + \
  (node[n].acquire << 16) + (node[n].granted << 17) + (node[n].extend << 18) + (node[n].extended << 19) + \
  (node[n].keep << 20) + (node[n].release << 22) + (node[n].rival << 23) + (node[n].rivals << 24))
inline order(a, b) {
  if
  :: STATE(a) > STATE(b) ->
    SWAP(owner); SWAP(lingers); SWAP(ttl); SWAP(out); SWAP(limit); SWAP(acquire); SWAP(granted); SWAP(extend);
    SWAP(extended); SWAP(keep); SWAP(release); SWAP(rival); SWAP(rivals);
    swapped = 0
  :: else
  fi
}
#define SORT order(0, 1); order(1, 2); order(0, 1)
#else
#define SORT skip
#endif

/* The clock */

inline age(n) {
  if
  :: node[n].ttl == 1 -> node[n].ttl = 0; node[n].owner = NOBODY; node[n].lingers = 0; node[n].limit = 0
  :: node[n].ttl > 1 -> node[n].ttl--
  :: else
  fi;
  if
  :: node[n].out > 0 -> node[n].out--
  :: else
  fi;
  within = (node[n].owner != A || now < node[n].limit);
  assert(within)
}

/* What the nodes do */

inline arrive(n) {
  if
  :: node[n].acquire -> node[n].acquire = 0;
    if
    :: node[n].owner == NOBODY && node[n].out == 0 ->
      node[n].owner = A; node[n].lingers = 0; node[n].ttl = LIFE; node[n].limit = now + LIFE;
      node[n].granted = (phase == asks)
    :: else
    fi
  :: node[n].extend -> node[n].extend = 0;
    if
    :: node[n].owner == A && !node[n].lingers ->
      node[n].ttl = MAX(node[n].ttl, TTL + TAIL); node[n].limit = MAX(node[n].limit, now + TTL + TAIL);
      node[n].extended = 1
#ifdef V_EXTENDABLE       /* a late renewal brings a key back that only stays */
    :: node[n].owner == A && node[n].lingers -> node[n].ttl = MAX(node[n].ttl, TTL + TAIL)
#endif
    :: else
    fi
  :: node[n].keep > 0 -> node[n].keep--;
    if
    :: node[n].owner == A ->
      node[n].lingers = 1;
#ifdef V_PROLONGS         /* and not only shortens */
      node[n].ttl = left
#else
      node[n].ttl = (node[n].ttl > left -> left : node[n].ttl)
#endif
    :: else
    fi
  :: node[n].release -> node[n].release = 0;
    if
    :: node[n].owner == A -> node[n].owner = NOBODY; node[n].lingers = 0; node[n].ttl = 0; node[n].limit = 0
    :: else
    fi
  :: node[n].rival -> node[n].rival = 0;
    if
    :: node[n].owner == NOBODY && node[n].out == 0 -> node[n].owner = B; node[n].ttl = TTL; node[n].rivals = 1
    :: else
    fi
  fi
}
#define COMES(n) (node[n].acquire || node[n].extend || node[n].keep > 0 || node[n].release || node[n].rival)

/* A server restarts, and forgets. What is on the way to it may still come. */
inline restart(n) {
  node[n].owner = NOBODY; node[n].lingers = 0; node[n].ttl = 0; node[n].limit = 0; node[n].out = GUARD; restarted = 1
}

/* What A does */

#define STAYS (now < LEAST -> LEAST - now : 0)   /* the round that was granted began at 0 */

/* Ends the key everywhere, or shortens it to what is left. */
inline part() {
  if
  :: left > 0 -> node[0].keep = SENT; node[1].keep = SENT; node[2].keep = SENT
  :: else -> ALL(release)
  fi
}

inline unlock() {
  phase = unlocked;
#ifdef V_RELEASED         /* an unlock frees the lock, whatever its minimum */
  ALL(release)
#else
  left = STAYS; part()
#endif
}

inline lose() {
  phase = lost;
#ifdef V_LOST_FREE        /* a loss that is noticed frees the lock */
  ALL(release)
#else
  left = STAYS; left = MAX(left, REST); part()
#endif
}

/* What B does */

inline forget(n) {
  if
  :: node[n].owner == B -> node[n].owner = NOBODY; node[n].ttl = 0
  :: else
  fi
}
inline giveBack() {
  waits = 0; NONE(rival); NONE(rivals);
  forget(0); forget(1); forget(2)
}

/* What is promised about the moment at which B is granted the lock. */
inline win() {
  won = 1;
  rested = (!TOOK || phase == unlocked || now >= start + VALID + REST);   /* so A's lease is over, too */
  assert(rested);
  stayed = (!TOOK || now >= LEAST);
  assert(stayed)
}

proctype World() {
endless:
  do
  /* the clock */
  :: atomic { !won && now < END -> now++; age(0); age(1); age(2); SORT }
  /* A */
  :: atomic { phase == idle && now == 0 -> phase = asks; ALL(acquire); SORT }
  :: atomic { phase == asks && COUNT(granted) >= QUORUM && now < start + TTL -> phase = holds; NONE(granted); SORT }
  :: atomic { phase == asks && now >= start + TTL -> phase = refused; NONE(granted); ALL(release); SORT }
#ifdef RENEW
  :: atomic { phase == holds && !renews -> renews = 1; renewal = now; ALL(extend); SORT }
  :: atomic { phase == holds && renews && COUNT(extended) >= QUORUM && now < start + VALID && start < renewal -> start = renewal; SORT }
#endif
  :: atomic { phase == holds && now < start + VALID -> unlock(); SORT }
  :: atomic { phase == holds && now >= start + VALID -> lose(); SORT }
  /* B */
  :: atomic { !won && !waits && now < END -> waits = 1; began = now; ALL(rival); SORT }
  :: atomic { !won && waits && COUNT(rivals) >= QUORUM && now < began + TTL -> win(); SORT }
  :: atomic { !won && waits && now > began -> giveBack(); SORT }
  /* the nodes */
  :: atomic { !won && COMES(0) -> arrive(0); SORT }
  :: atomic { !won && COMES(1) -> arrive(1); SORT }
  :: atomic { !won && COMES(2) -> arrive(2); SORT }
#ifdef RESTART
  :: atomic { !won && !restarted -> restart(0); SORT }
  :: atomic { !won && !restarted -> restart(1); SORT }
  :: atomic { !won && !restarted -> restart(2); SORT }
#endif
  od
}

init { run World() }
