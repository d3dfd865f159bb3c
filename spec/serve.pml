/*
 * Reading and writing within a process: two processes want one name. In the first, one goroutine writes and two read;
 * in the second, one writes and one reads. A process that has the name to write serves its goroutines in the order of
 * their arrival, and one that reads lets others of it join, both without a word to the nodes.
 *
 * It mirrors contest.enter, contest.serve, contest.close, contest.readOn and tenure.told in lock/serve.go, contest.disband in
 * lock/line.go, engine.join and tenure.looked in lock/join.go, and rw_acquire.lua, rw_reserve.lua and rw_look.lua.
 * README.md says what is left out. The nodes are one here: that a quorum of several is as good is readwrite.pml's matter.
 *
 * Time: a tenure's deadline may pass at any moment, and its key expire at any moment after that. What is bounded by
 * time in the library is bounded by a number of holds here: STALE for the age of an answer of the nodes. A message
 * may come at any moment, or never.
 *
 * Parts: EXPIRE  deadlines pass, of the second process; then one who waits may be passed
 *        LIVES   how often each goroutine wants the lock
 * V_...: variants that must fail.
 */

#ifndef LIVES
#define LIVES 1
#endif
#define STALE 1
#define G 5

/* A tenure. */
#define NONE    0
#define WRITES  1  /* it has the lock alone, and serves its process */
#define READS   2
#define ENDING  3  /* the release is on its way */

/* A goroutine. */
#define IDLE    0
#define HERE    1  /* it waits for its turn within its process, and the nodes do not know */
#define PLACED  2  /* it stands in the queue on the nodes */
#define HOLDS   3

/* What the nodes are asked, and their answer. */
#define SENT    1
#define FINE    2
#define OTHERS  3
#define GONE    4

typedef Process {
  byte tenure;
  bit  closed;   /* somebody elsewhere waits */
  bit  over;     /* the tenure's deadline has passed */
  bit  tells;    /* that it reads from now on is on its way to the node */
  bit  message;  /* that somebody waits is on its way to it */
  byte left;     /* holds until it must have heard from the nodes again */
  byte answer;
  byte reign;    /* holds that it began, of those who came after somebody of the other one had its place */
};

Process process[2];
byte state[G];
byte lives[G];
byte turn[G];    /* the order of arrival in the process; 0: it does not wait */
byte place[G];   /* the order in the node's queue; 0: it is not there */
bit  later[G];   /* it came when somebody of the other process had a place that is before it */
bit  key[2];     /* the node: lock:{name} has the process's hold id, */
bit  reads[2];   /* which only reads */

#define P(g)        ((g) / 3)
#define WRITER(g)   ((g) == 0 || (g) == 3)
#define ME          process[p]
#define IN(g, p)    (P(g) == (p) && state[g] == HOLDS)
#define READERS(p)  (IN(1, p) || IN(2, p) || IN(4, p))
#define WRITING(p)  (IN(0, p) || IN(3, p))
#define PRESENT(p)  (READERS(p) || WRITING(p))
#define VALID(g)    (state[g] == HOLDS && !process[P(g)].over)
#define READS_BESIDE (VALID(1) || VALID(2) || VALID(4))
#define SHUT(p)     (process[p].closed)

/* Whether a writer, or anybody, of process p has a place. */
#define PLACED_WRITER(p) (place[3 * (p)] > 0)
#define PLACED_ANY(p)    ((p) == 0 && (place[0] > 0 || place[1] > 0 || place[2] > 0) || (p) == 1 && (place[3] > 0 || place[4] > 0))

/* Whether b is before g in the node's queue: one that has no place stands at its end. */
#define BEFORE(b, g)  ((b) != (g) && place[b] > 0 && (place[g] == 0 || place[b] < place[g]))
#define QUEUED_WRITER(g) (BEFORE(0, g) || BEFORE(3, g))
#define QUEUED(g)        (QUEUED_WRITER(g) || BEFORE(1, g) || BEFORE(2, g) || BEFORE(4, g))

/* Whether the node grants g the lock: a process's hold is in the way of another hold of it, too. */
#define FREE(g)  (WRITER(g) -> (!key[0] && !key[1] && !QUEUED(g)) : \
  (!(key[0] && !reads[0]) && !(key[1] && !reads[1]) && !QUEUED_WRITER(g)))

/* Whether b waits here and its turn is before that of g. */
#ifdef V_NO_ORDER
#define AHEAD(b, g) false
#else
#define AHEAD(b, g) ((b) != (g) && P(b) == P(g) && turn[b] > 0 && turn[b] < turn[g])
#endif
#define ANY_AHEAD(g) (AHEAD(0, g) || AHEAD(1, g) || AHEAD(2, g) || AHEAD(3, g) || AHEAD(4, g))

/* Whether g may have its turn within a tenure of its process that writes, when it comes. */
#define SERVED(g, p) (P(g) == (p) && (state[g] == HERE || state[g] == PLACED && !SHUT(p)))
#define NEXT(g, p)   (SERVED(g, p) && !ANY_AHEAD(g))
#define SOMEBODY(p)  (NEXT(0, p) || NEXT(1, p) || NEXT(2, p) || NEXT(3, p) || NEXT(4, p))

/* The numbers of those behind one that has gone are less by one. */
#define CLOSE_UP(order, g) \
  if \
  :: order[g] > 0 -> \
    if :: order[0] > order[g] -> order[0]-- :: else fi; \
    if :: order[1] > order[g] -> order[1]-- :: else fi; \
    if :: order[2] > order[g] -> order[2]-- :: else fi; \
    if :: order[3] > order[g] -> order[3]-- :: else fi; \
    if :: order[4] > order[g] -> order[4]-- :: else fi; \
    order[g] = 0 \
  :: else \
  fi

#define MANY(order) ((order[0] > 0) + (order[1] > 0) + (order[2] > 0) + (order[3] > 0) + (order[4] > 0))

/* g waits: it gets a place on the node, which tells the process in its way. */
inline stand(g) {
  state[g] = PLACED;
  if
  :: place[g] == 0 -> place[g] = MANY(place) + 1
  :: else
  fi;
  if
  :: key[1 - P(g)] && (WRITER(g) || !reads[1 - P(g)]) -> process[1 - P(g)].message = 1
  :: else
  fi;
  if
  :: key[P(g)] && reads[P(g)] && WRITER(g) -> process[P(g)].message = 1
  :: else
  fi
}

/* Whether somebody who waits in the process of g, and has no place, was there before it. */
#define HERE_BEFORE(b, g) ((b) != (g) && P(b) == P(g) && state[b] == HERE && turn[b] < turn[g])
#define HERE_AHEAD(g) (HERE_BEFORE(0, g) || HERE_BEFORE(1, g) || HERE_BEFORE(2, g) || HERE_BEFORE(3, g) || HERE_BEFORE(4, g))

/* All who wait in process p for a turn within it ask the nodes, in the order of their arrival. */
inline disband(p) {
  do
  :: P(0) == p && state[0] == HERE && !HERE_AHEAD(0) -> stand(0)
  :: P(1) == p && state[1] == HERE && !HERE_AHEAD(1) -> stand(1)
  :: P(2) == p && state[2] == HERE && !HERE_AHEAD(2) -> stand(2)
  :: P(3) == p && state[3] == HERE && !HERE_AHEAD(3) -> stand(3)
  :: P(4) == p && state[4] == HERE && !HERE_AHEAD(4) -> stand(4)
  :: else -> break
  od;
  skip  /* a d_step must not end with a loop */
}

/* Whether b waits in the same process, and has come before g. Of those that read, each may be the first. */
#define OLDER(b, g) ((b) != (g) && P(b) == P(g) && turn[b] > 0 && turn[b] < turn[g] && (WRITER(b) || WRITER(g)))

/* Whether somebody of the process of g stands on the node who came before it. */
#define PLACED_BEFORE(b, g) ((b) != (g) && P(b) == P(g) && state[b] == PLACED && turn[b] < turn[g])
#define PLACED_AHEAD(g) (PLACED_BEFORE(0, g) || PLACED_BEFORE(1, g) || PLACED_BEFORE(2, g) || PLACED_BEFORE(3, g) || PLACED_BEFORE(4, g))

/* Nobody waits in process p any more for a turn within it, behind one that stands on the node: contest.close. */
#ifdef V_CLOSES_LATE
inline scatter(p) { skip }
#else
inline scatter(p) {
  do
  :: P(0) == p && state[0] == HERE && !HERE_AHEAD(0) && PLACED_AHEAD(0) -> stand(0)
  :: P(1) == p && state[1] == HERE && !HERE_AHEAD(1) && PLACED_AHEAD(1) -> stand(1)
  :: P(2) == p && state[2] == HERE && !HERE_AHEAD(2) && PLACED_AHEAD(2) -> stand(2)
  :: P(3) == p && state[3] == HERE && !HERE_AHEAD(3) && PLACED_AHEAD(3) -> stand(3)
  :: P(4) == p && state[4] == HERE && !HERE_AHEAD(4) && PLACED_AHEAD(4) -> stand(4)
  :: else -> break
  od;
  skip
}
#endif
/* A hold of g begins in process p. Who comes after somebody of the other process had its place may be before it only
 * until this process has heard of that: for as many holds as two answers allow, of which one may be on its way, and
 * those who waited here when the message came. */
inline begin(p, g) {
#ifndef EXPIRE
  assert(!(OLDER(0, g) || OLDER(1, g) || OLDER(2, g) || OLDER(3, g) || OLDER(4, g)));
#endif
  CLOSE_UP(turn, g);
  CLOSE_UP(place, g);
  state[g] = HOLDS;
  ME.reign = (later[g] && (PLACED_WRITER(1 - p) || WRITER(g) && PLACED_ANY(1 - p)) -> ME.reign + 1 : 0);
  process[1 - p].reign = 0;
  later[g] = 0;
  assert(!(VALID(0) && VALID(3)));
  assert(!((VALID(0) || VALID(3)) && READS_BESIDE));
  assert(ME.reign <= 2 * STALE + 2)
}

/* The tenure of p, in which nobody writes and some read, reads from now on. */
inline read_on(p) {
  ME.tenure = READS; ME.closed = 1; ME.tells = 1; ME.answer = NONE;
  disband(p)
}

/* A hold has ended: contest.serve, as far as it ends something. */
inline settle(p) {
  if
  :: ME.tenure == WRITES && !PRESENT(p) && !SOMEBODY(p) -> ME.tenure = ENDING
  :: ME.tenure == READS && !PRESENT(p) -> ME.tenure = ENDING
#ifdef V_READS_EARLY
  :: ME.tenure == WRITES && PRESENT(p) && ME.closed && !SOMEBODY(p) -> read_on(p)
#else
  :: ME.tenure == WRITES && PRESENT(p) && !WRITING(p) && ME.closed && !SOMEBODY(p) -> read_on(p)
#endif
  :: else
  fi
}

/* The tenure is over, and who waited for a turn within it asks the nodes. */
inline leave(p) {
  ME.tenure = NONE; ME.closed = 0; ME.over = 0; ME.tells = 0; ME.message = 0; ME.left = 0; ME.answer = NONE;
  key[p] = 0; reads[p] = 0;
  disband(p)
}

#ifdef V_IGNORES
#define CLOSES(p) false
#else
#define CLOSES(p) true
#endif

#ifdef V_GOES_LATE
#define UNSEEN(p) true
#else
#define UNSEEN(p) (!ME.closed)
#endif

proctype Goroutine(byte p; byte g) {
end:
  do
  /* Lock. */
  :: d_step { state[g] == IDLE && lives[g] < LIVES ->
      lives[g]++;
      turn[g] = MANY(turn) + 1;
      later[g] = PLACED_WRITER(1 - p) || WRITER(g) && PLACED_ANY(1 - p);
      if
      :: ME.tenure == WRITES && !ME.closed && !ME.over -> state[g] = HERE
      :: ME.tenure == READS && !WRITER(g) && !ME.closed && !ME.over && ME.left > 0 &&
          turn[3 * p] == 0 -> ME.left--; begin(p, g)
      :: else -> stand(g)
      fi }
  /* contest.serve, as far as it has a hold begin. */
  :: d_step { NEXT(g, p) && ME.tenure == WRITES && !ME.over && ME.left > 0 &&
#ifdef V_OVERLAPS
      !(WRITER(g) && WRITING(p)) ->
#else
      !WRITING(p) && !(WRITER(g) && PRESENT(p)) ->
#endif
      ME.left--; begin(p, g) }
  /* It has waited here for a while, and gets a place on the node, too. */
  :: d_step { state[g] == HERE && !HERE_AHEAD(g) && ME.tenure == WRITES && PRESENT(p) && UNSEEN(p) -> stand(g); settle(p) }
  /* An attempt: it is told, or polls. */
  :: d_step { state[g] == PLACED && FREE(g) && (ME.tenure == NONE || ME.tenure == READS && !WRITER(g)) ->
      key[p] = 1;
      if
      :: ME.tenure == NONE ->
        reads[p] = !WRITER(g); ME.tenure = (WRITER(g) -> WRITES : READS); ME.left = STALE; ME.message = 0;
        ME.closed = (WRITER(g) -> PLACED_ANY(1 - p) : (place[0] > 0 || place[3] > 0)) && CLOSES(p)
      :: else  /* it joins what the process has, whose end is the last one's */
      fi;
      begin(p, g) }
  /* Unlock. */
  :: d_step { state[g] == HOLDS && ME.tenure != ENDING -> state[g] = IDLE; settle(p) }
  od
}

proctype Tenure(byte p) {
end:
  do
  /* rw_reserve.lua, rw_look.lua */
  :: d_step { (ME.tenure == WRITES && SOMEBODY(p) || ME.tenure == READS && !ME.closed) && ME.left == 0 && ME.answer == NONE -> ME.answer = SENT }
  :: d_step { ME.answer == SENT ->
      if
      :: !key[p] -> ME.answer = GONE
      :: key[p] && (ME.tenure == WRITES && PLACED_ANY(1 - p) || ME.tenure == READS && (place[0] > 0 || place[3] > 0)) && CLOSES(p) -> ME.answer = OTHERS
      :: else -> ME.answer = FINE
      fi }
  /* tenure.told, tenure.looked */
  :: d_step { ME.answer > SENT ->
      if
      :: ME.tenure == WRITES && ME.answer == OTHERS && UNSEEN(p) ->
        ME.answer = NONE; ME.left = STALE; ME.closed = 1; disband(p); settle(p)
      :: ME.tenure == WRITES && ME.answer == OTHERS && !UNSEEN(p) -> ME.answer = NONE; ME.left = STALE; settle(p)
      :: ME.tenure == WRITES && ME.answer == FINE -> ME.answer = NONE; ME.left = STALE; settle(p)
      :: ME.tenure == READS && ME.answer == OTHERS -> ME.answer = NONE; ME.closed = 1
      :: ME.tenure == READS && ME.answer == FINE -> ME.answer = NONE; ME.left = STALE
      :: else -> ME.answer = NONE
      fi }
  /* A message: somebody elsewhere waits. It may be lost. */
  :: d_step { ME.message ->
      ME.message = 0;
      if
      :: ME.tenure == WRITES && CLOSES(p) -> ME.closed = 1; scatter(p); settle(p)
      :: ME.tenure == READS && CLOSES(p) -> ME.closed = 1
      :: else
      fi }
  :: d_step { ME.message -> ME.message = 0 }
  /* Nobody has written for a while. */
  :: d_step { ME.tenure == WRITES && READERS(p) && !WRITING(p) &&
      !NEXT(3 * p, p) && !(ME.closed && SOMEBODY(p)) -> read_on(p) }
  /* rw_extend.lua, of one that reads by now */
  :: d_step { ME.tells -> ME.tells = 0; reads[p] = key[p] }
  /* rw_release.lua */
  :: d_step { ME.tenure == ENDING && !PRESENT(p) -> leave(p) }
#ifdef V_RELEASES_EARLY
  :: d_step { ME.tenure == WRITES && ME.closed && PRESENT(p) && !SOMEBODY(p) -> key[p] = 0 }
#endif
#ifdef EXPIRE
  :: d_step { p == 1 && (ME.tenure == WRITES || ME.tenure == READS) && !ME.over -> ME.over = 1 }
#ifdef V_NO_CLOCK
  :: d_step { ME.over && key[p] -> key[p] = 0; reads[p] = 0; ME.over = 0 }
#else
  :: d_step { ME.over && key[p] -> key[p] = 0; reads[p] = 0 }
#endif
  /* A lease looks at the clock: all that are within the tenure are lost. */
  :: d_step { ME.over && ME.tenure != NONE && ME.tenure != ENDING ->
      if :: IN(0, p) -> state[0] = IDLE :: else fi;
      if :: IN(1, p) -> state[1] = IDLE :: else fi;
      if :: IN(2, p) -> state[2] = IDLE :: else fi;
      if :: IN(3, p) -> state[3] = IDLE :: else fi;
      if :: IN(4, p) -> state[4] = IDLE :: else fi;
      leave(p) }
#endif
  od
}

/* When nothing can happen any more, nobody waits and nothing is held. */
proctype Judge() {
end:
  timeout ->
    assert(state[0] + state[1] + state[2] + state[3] + state[4] == 0 /* stuck */);
    assert(!key[0] && !key[1] /* holder */)
}

init {
  atomic {
    run Goroutine(0, 0); run Goroutine(0, 1); run Goroutine(0, 2); run Goroutine(1, 3); run Goroutine(1, 4);
    run Tenure(0); run Tenure(1); run Judge()
  }
}
