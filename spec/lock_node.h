/*
 * One node, as the lock round needs it: what is there, what is on the way to it, and the
 * scripts. Included by lock.pml.
 */

/* What is on the way between the client of one hold and one node. An acquiring command
   that is on the way may be run at any moment, and again as long as its answer is not
   heard; it may never arrive. */
#define NONE     0   /* nothing */
#define SENT     1   /* the acquiring command, not answered: it may have run or not */
#define YES      2   /* it is answered: granted */
#define NO       3   /* it is answered: refused, or it never left */
#define RELEASE  4   /* the release; the acquiring command is gone */
#define MARKING  5   /* the release with a mark, and the acquiring command */
#define MARKED   6   /* the same, and the mark is on the node by now */
#define VOIDED   7   /* the acquiring command; the marked release is confirmed */
#define LOOSE    8   /* the acquiring command, and nothing after it; of variants only */

typedef Pair {
  byte way;
#ifdef EXTEND
  byte extend;       /* NONE, SENT, or how the extension was answered: */
  bit  repair;       /* the creating command on the way is a repair */
#endif
};
#define EXTENDED 2
#define FREE     3   /* not there, and the lock is free */
#define TAKEN    4   /* not there, and another has the lock */

typedef Node {
  byte holder;       /* lock:{name}: which hold has the key here, from 1; 0: free */
#ifdef EXTEND
  byte round;        /* of the last write */
#endif
#ifdef V_INCREMENT
  byte count;
#endif
#ifdef CRASH
  bit  young;        /* restarted not long ago */
#endif
  Pair with[H];
};

Node node[3];

#define P(n, h)      node[n].with[h]
#define HAS(n, h)    (node[n].holder == h + 1)
#define EACH(do, h)  do(0, h); do(1, h); do(2, h)
#define COUNT(is, h) (is(0, h) + is(1, h) + is(2, h))

#if defined(CRASH) && !defined(V_NO_GUARD)
#define MAY_GRANT(n) (!node[n].young)
#else
#define MAY_GRANT(n) true
#endif

#ifdef V_NO_MARK
#define VOID(n, h) false
#else
#define VOID(n, h) (P(n, h).way == MARKED || P(n, h).way == VOIDED)
#endif

#ifdef EXTEND
/* No write shortens a TTL. */
#define WRITE(n, h, r) node[n].holder = h + 1; node[n].round = (r > node[n].round -> r : node[n].round)
#define DELETE(n)      node[n].holder = 0; node[n].round = 0
#define ROUND(n)       node[n].round
#define REPAIR(n, h)   P(n, h).repair
#define SETTLED(n, h)  P(n, h).repair = 0
#else
#define WRITE(n, h, r) node[n].holder = h + 1
#define DELETE(n)      node[n].holder = 0
#define ROUND(n)       1
#define REPAIR(n, h)   false
#define SETTLED(n, h)  skip
#endif

/* acquire.lua with a count of 1, or repair.lua: both grant what is free and not void.
   A repair counts from the next renewal on. */
#ifdef V_REPAIR_UNGUARDED
#define GRANTS(n, h) (HAS(n, h) || node[n].holder == 0 && !VOID(n, h) && (MAY_GRANT(n) || REPAIR(n, h)))
#else
#define GRANTS(n, h) (HAS(n, h) || node[n].holder == 0 && !VOID(n, h) && MAY_GRANT(n))
#endif

inline grant(n, h) {
#ifdef V_INCREMENT
  node[n].count = (HAS(n, h) -> 2 : 1);
#endif
  if
  :: REPAIR(n, h) -> WRITE(n, h, 0)
  :: else -> WRITE(n, h, 1)
  fi
}

/* release.lua with a count of 0; whether it also marks, the state of the way tells. */
inline release_lua(n, h) {
  if
#ifdef V_INCREMENT
  :: HAS(n, h) && node[n].count == 2 -> node[n].count = 1
  :: HAS(n, h) && node[n].count == 1 -> node[n].count = 0; DELETE(n)
#else
#ifdef V_NO_OWNER
  :: node[n].holder != 0 -> DELETE(n)
#else
  :: HAS(n, h) -> DELETE(n)
#endif
#endif
  :: else
  fi
}

#ifdef EXTEND
/* extend.lua */
inline extend_lua(n, h) {
  if
  :: HAS(n, h) -> WRITE(n, h, 2); P(n, h).extend = EXTENDED
#ifdef V_EXTEND_CREATES
  :: node[n].holder == 0 -> WRITE(n, h, 2); P(n, h).extend = EXTENDED
#else
  :: node[n].holder == 0 -> P(n, h).extend = FREE
#endif
  :: else -> P(n, h).extend = TAKEN
  fi
}
#endif

#ifdef CRASH
inline unmark(n, h) {
  if
  :: P(n, h).way == MARKED -> P(n, h).way = MARKING
  :: P(n, h).way == VOIDED -> P(n, h).way = LOOSE
  :: else
  fi
}
#endif
