/*
 * The read-write lock: clients 0 and 1 read, client 2 writes, over three nodes of which two are a quorum.
 *
 * It mirrors rw_acquire.lua, rw_release.lua, rw_yield.lua, rw_extend.lua and rw.lua, queuer.ask in lock/ask.go and
 * hold.downgrade in lock/downgrade.go. README.md says what is left out. That commands are lost, doubled or late is
 * lock.pml's matter, and how tickets become the same on all nodes queue.pml's: a node's queue is the order in which
 * it was asked.
 *
 * Time: a deadline may pass at any moment while a lease is held, and what it left on a node goes at any moment
 * after that, one by one. Nobody polls but for that: who sleeps must be told.
 *
 * Parts: EXPIRE  deadlines pass, of the first reader and of the writer, and the reader may crash
 *        DOWN    who writes goes on reading, until another one reads, too
 *        LIVES   how often each of them reads
 * V_...: variants that must fail.
 */

#ifndef LIVES
#define LIVES 1
#endif
#define N       3
#define QUORUM  2
#define CLIENTS 3
#define WRITER  2

#define IDLE    0
#define ASKS    1  /* its commands are on their way */
#define SLEEPS  2  /* it was refused, and waits to be told that it is its turn */
#define HOLDS   3
#define SHARES  4  /* the writer: it has written, and reads */
#define ENDED   5

/* Of a command. */
#define SENT    1
#define YES     2
#define NO      3

byte phase[CLIENTS];
byte lives[CLIENTS];
bit  over[CLIENTS];      /* the deadline of its lease has passed */
bit  told[CLIENTS];
bit  behind[CLIENTS];      /* it began when the writer had its place on a quorum */
bit  litter;             /* something is left on a node when all is over */
bit  queued;             /* the writer has its place on a quorum, and has not held the lock since */

/* On a node, by AT(n, c). */
byte asked[9];
bit  has[9];
bit  waits[9];
bit  first[9];           /* it stands before the writer */
bit  leaves[9];          /* its release is on its way */
bit  shared[3];          /* the writer only reads there */
bit  shares[3];          /* that it is to is on its way */

#define AT(n, c)   ((n) * CLIENTS + (c))
#define READS(c)   ((c) != WRITER)
#define HAS_READER(n)   (has[AT(n, 0)] || has[AT(n, 1)])
#define WRITES(n)       (has[AT(n, WRITER)] && !shared[n])
#define VALID(c)        ((phase[c] == HOLDS || phase[c] == SHARES) && !over[c])
#define VOTES(c, v)     ((asked[AT(0, c)] == v) + (asked[AT(1, c)] == v) + (asked[AT(2, c)] == v))
#define PLACES          (waits[AT(0, WRITER)] + waits[AT(1, WRITER)] + waits[AT(2, WRITER)])

#ifdef V_PASSES
#define BEHIND(n, c) false
#else
#define BEHIND(n, c) (waits[AT(n, WRITER)] && !(waits[AT(n, c)] && first[AT(n, c)]))
#endif

#ifdef V_BLIND
#define SEES_READER(n) false
#else
#define SEES_READER(n) HAS_READER(n)
#endif

/* Who is in the way of c on node n. */
#define BARRED(n, c) (READS(c) -> (WRITES(n) || BEHIND(n, c)) : \
  (SEES_READER(n) || waits[AT(n, 0)] && first[AT(n, 0)] || waits[AT(n, 1)] && first[AT(n, 1)]))

/* Node n tells those whose turn it is. */
inline admit(n) {
  if
  :: WRITES(n) -> skip
  :: else ->
    told[0] = told[0] || waits[AT(n, 0)] && (first[AT(n, 0)] || !waits[AT(n, WRITER)]);
    told[1] = told[1] || waits[AT(n, 1)] && (first[AT(n, 1)] || !waits[AT(n, WRITER)]);
    told[2] = told[2] || waits[AT(n, 2)] && !BARRED(n, WRITER) && !has[AT(n, WRITER)]
  fi
}

/* What is left on a node of a lease whose time is over goes, whatever the others do. */
#ifdef V_COUNTED
#define GOES(c) (!READS(c))  /* readers are a number, which nobody lowers for one that has crashed */
#else
#define GOES(c) true
#endif

/* Whom node n tells when who has written there only reads. */
#ifdef V_SILENT
#define TELLS(n) skip
#else
#define TELLS(n) admit(n)
#endif

inline settle(n, c) {
  if
  :: waits[AT(n, c)] -> waits[AT(n, c)] = 0; first[AT(n, c)] = 0; admit(n)
  :: else
  fi
}

/* Node n executes what c asks. */
inline execute(n, c) {
  if
  :: BARRED(n, c) ->
    if
    :: !waits[AT(n, c)] -> waits[AT(n, c)] = 1; first[AT(n, c)] = READS(c) && !waits[AT(n, WRITER)] && !has[AT(n, WRITER)]
    :: else
    fi;
    asked[AT(n, c)] = NO;
    if
    :: phase[c] == HOLDS || phase[c] == SHARES -> settle(n, c)  /* it was granted meanwhile */
    :: else -> queued = queued || c == WRITER && PLACES >= QUORUM
    fi
  :: else ->
    waits[AT(n, c)] = 0; first[AT(n, c)] = 0;
    has[AT(n, c)] = 1; asked[AT(n, c)] = YES;
    if
    :: phase[c] == SLEEPS -> yield(n, c)  /* a late grant of a round that was refused */
    :: else
    fi
  fi
}

/* c gives back what node n granted, and waits on in its place. It knows that it could have the lock there, and asks
 * again: that is how rivals that have split the nodes come to one order, of which queue.pml knows more. */
inline yield(n, c) {
  has[AT(n, c)] = 0; asked[AT(n, c)] = NO;
  waits[AT(n, c)] = 1; first[AT(n, c)] = READS(c) && (!waits[AT(n, WRITER)] || !behind[c]);
  admit(n);
  told[c] = 1
}

/* c is granted the lock: it leaves the queues of the other nodes. */
inline grant(c) {
  phase[c] = HOLDS; over[c] = 0; told[c] = 0;
  assert(!(READS(c) && behind[c] && queued));
  if
  :: c == WRITER -> queued = 0
  :: else
  fi;
  settle(0, c); settle(1, c); settle(2, c);
  assert(!(VALID(WRITER) && phase[WRITER] == HOLDS && (VALID(0) || VALID(1))))
}

inline send(c) {
  asked[AT(0, c)] = (has[AT(0, c)] -> YES : SENT);
  asked[AT(1, c)] = (has[AT(1, c)] -> YES : SENT);
  asked[AT(2, c)] = (has[AT(2, c)] -> YES : SENT)
}

/* c ends its lease, or what is left of it; nothing that it asked is executed any more. */
inline unlock(c) {
  leaves[AT(0, c)] = 1; leaves[AT(1, c)] = 1; leaves[AT(2, c)] = 1;
  asked[AT(0, c)] = 0; asked[AT(1, c)] = 0; asked[AT(2, c)] = 0
}

#define CLEAN(c) (!leaves[AT(0, c)] && !leaves[AT(1, c)] && !leaves[AT(2, c)])

proctype client(byte c) {
  do
  :: atomic { phase[c] == IDLE && lives[c] > 0 && CLEAN(c) ->
       lives[c]--; phase[c] = ASKS; behind[c] = READS(c) && queued; told[c] = 0; send(c) }
  :: atomic { phase[c] == ASKS && VOTES(c, YES) >= QUORUM -> grant(c) }
  :: atomic { phase[c] == ASKS && VOTES(c, NO) > N - QUORUM ->
       phase[c] = SLEEPS;
       if :: asked[AT(0, c)] == YES -> yield(0, c) :: else fi;
       if :: asked[AT(1, c)] == YES -> yield(1, c) :: else fi;
       if :: asked[AT(2, c)] == YES -> yield(2, c) :: else fi }
  :: atomic { phase[c] == SLEEPS && told[c] && VOTES(c, SENT) == 0 -> told[c] = 0; phase[c] = ASKS; send(c) }
#ifdef DOWN
  :: atomic { c == WRITER && phase[c] == HOLDS && !over[c] ->
       phase[c] = SHARES; shares[0] = 1; shares[1] = 1; shares[2] = 1 }
  :: atomic { c == WRITER && phase[c] == SHARES && (VALID(0) || VALID(1) || phase[0] == ENDED && phase[1] == ENDED) ->
       unlock(c); phase[c] = IDLE }
  :: atomic { c != WRITER && phase[c] == HOLDS -> unlock(c); phase[c] = IDLE }
#else
  :: atomic { phase[c] == HOLDS -> unlock(c); phase[c] = IDLE }
#endif
#ifdef EXPIRE
  :: atomic { phase[c] == HOLDS && !over[c] && c != 1 -> over[c] = 1 }                       /* and it has not noticed yet */
  :: atomic { phase[c] == HOLDS && lives[c] == 0 && c == 0 -> over[c] = 1; phase[c] = ENDED; break }  /* it crashed */
#endif
  :: atomic { phase[c] == IDLE && lives[c] == 0 && CLEAN(c) -> phase[c] = ENDED; break }
  od
}

#define STEP(n, c) \
  :: atomic { asked[AT(n, c)] == SENT -> execute(n, c) } \
  :: atomic { leaves[AT(n, c)] -> leaves[AT(n, c)] = 0; has[AT(n, c)] = 0; waits[AT(n, c)] = 0; first[AT(n, c)] = 0; \
       if :: c == WRITER -> shared[n] = 0; shares[n] = 0 :: else fi; admit(n) } \
  :: atomic { has[AT(n, c)] && GOES(c) && over[c] && asked[AT(n, c)] != SENT && (phase[c] == HOLDS || phase[c] == ENDED) -> \
       has[AT(n, c)] = 0; admit(n) }

#define ALL_ENDED (phase[0] == ENDED && phase[1] == ENDED && phase[2] == ENDED)
#define LITTER(n) (has[AT(n, 0)] || has[AT(n, 1)] || has[AT(n, 2)] || waits[AT(n, 0)] || waits[AT(n, 1)] || waits[AT(n, 2)])

proctype network() {
  end: do
  STEP(0, 0) STEP(0, 1) STEP(0, 2)
  STEP(1, 0) STEP(1, 1) STEP(1, 2)
  STEP(2, 0) STEP(2, 1) STEP(2, 2)
#ifdef DOWN
  :: atomic { shares[0] -> shares[0] = 0; if :: has[AT(0, WRITER)] -> shared[0] = 1; TELLS(0) :: else fi }
  :: atomic { shares[1] -> shares[1] = 0; if :: has[AT(1, WRITER)] -> shared[1] = 1; TELLS(1) :: else fi }
  :: atomic { shares[2] -> shares[2] = 0; if :: has[AT(2, WRITER)] -> shared[2] = 1; TELLS(2) :: else fi }
#endif
  :: atomic { ALL_ENDED && CLEAN(0) && CLEAN(1) && CLEAN(2) && !over[0] && !over[1] ->
       litter = LITTER(0) || LITTER(1) || LITTER(2); assert(!litter); break }
  :: atomic { ALL_ENDED && (over[0] || over[1]) -> break }
  od
}

init {
  atomic {
    lives[0] = LIVES; lives[1] = LIVES; lives[2] = 1;
    run client(0); run client(1); run client(2); run network()
  }
}
