/*
 * One node of the fair queue: what is there of each waiter, what is on the way, and the
 * scripts. Included by queue.pml.
 */

#define NONE  0
#define SENT  1   /* on the way, or run and the answer on the way */
#define YES   2   /* answered: granted */
#define NO    3   /* answered: it waits, with the ticket in reply */
#define KEPT  4   /* granted, given back, and it waits with the ticket in reply */

/* Which round a grant is of (the hash lock:{name}:waiters). 0: it lasts. */
#define EARLIER 1
#define PRESENT 2

/* A ticket and whether it is final, as a command on the way carries it. */
#define LETTER(w)     (1 + ticket[w] + (final[w] << 3))
#define TICKET(l)     ((l - 1) & 7)
#define FINAL(l)      ((l - 1) >> 3)
#define LATER(l, x)   (1 + x + (FINAL(l) << 3))

typedef Pair {
  unsigned ask : 3;        /* the acquiring command of the present round */
  unsigned reply : 3;      /* the ticket in its answer, or the yield's */
  unsigned late : 5;       /* an acquiring command of an earlier round, not run yet */
  unsigned then : 3;       /* the ticket of the waiter when that round was over */
  unsigned yield : 5;      /* a yield on the way */
  unsigned old : 1;        /* it is of an earlier round */
  unsigned release : 1;    /* a release on the way */
  unsigned place : 3;      /* lock:{name}:queue: the ticket it waits with; 0: it does not */
  unsigned granted : 2;    /* the round of its grant */
  unsigned had : 3;        /* the ticket with which it was granted */
  unsigned mark : 1;       /* lock:{name}:void */
};

typedef Node {
  unsigned holder : 3;     /* lock:{name}: waiter, from 1; 0: free */
  Pair with[2];
};

Node node[N];

#define P(n, w)    node[n].with[w]
#define HAS(n, w)  (node[n].holder == w + 1)
#define MAX(a, b)  (a > b -> a : b)

/* Who is first: by ticket, then by hold id. */
#define HEAD(n, w) (P(n, w).place != 0 && (P(n, 1 - w).place == 0 || P(n, w).place < P(n, 1 - w).place \
  || P(n, w).place == P(n, 1 - w).place && w == 0))

SCRATCH answer;      /* what a script returns */
SCRATCH told;
SCRATCH before;      /* the greatest ticket of the other that counts */

/* Nothing that the mark is for is on the way any more. */
#define CALM       P(n, w).mark = (P(n, w).mark && (P(n, w).late != 0 || P(n, w).yield != 0))
#define SORT_      answer = 0; told = 0; before = 0; SORT

/* queue.lua, enqueue; the ticket of a holder that may yield counts too, if lent is 1. */
inline enqueue(n, w, t, f, lent) {
  before = P(n, 1 - w).place;
  before = (lent && HAS(n, 1 - w) && P(n, 1 - w).had > before -> P(n, 1 - w).had : before);
  told = t;
#ifdef V_AS_STATED
  if
  :: t == 0 && P(n, w).place == 0 -> told = before + 1
  :: else
  fi;
#else
  if
  :: P(n, w).place == 0 && !f -> told = MAX(t, before + 1)
  :: else
  fi;
#endif
#ifdef V_RETICKET
  told = (before < 7 -> before + 1 : 7);
  P(n, w).place = 0;
#endif
  assert(told < 8);  /* the bound of the model */
  if
  :: P(n, w).place == 0 || told > P(n, w).place || f -> P(n, w).place = told
  :: else
  fi;
  told = P(n, w).place
}

/* fair_acquire.lua */
inline fair_acquire(n, w, t, f, r) {
  if
  :: HAS(n, w) ->
    P(n, w).granted = (P(n, w).granted != 0 && r > P(n, w).granted -> r : P(n, w).granted);
    answer = YES; told = 0
  :: !HAS(n, w) && P(n, w).mark -> answer = NONE; told = 0
  :: else ->
    answer = YES; told = 0;
    if
#ifdef V_JUMP
    :: node[n].holder != 0 ->
#else
    :: node[n].holder != 0 || P(n, 1 - w).place != 0 && !HEAD(n, w) ->
#endif
      enqueue(n, w, t, f, 1);
      answer = (node[n].holder == 0 && HEAD(n, w) -> YES : NO)
    :: else
    fi;
    if
    :: answer == YES ->
      node[n].holder = w + 1; P(n, w).granted = r; told = 0;
#ifndef V_FORGETS
      P(n, w).had = (f -> t : MAX(t, P(n, w).place));
#endif
      P(n, w).place = 0
    :: else
    fi
  fi
}

/* fair_yield.lua; told is what it returns. */
inline fair_yield(n, w) {
  told = P(n, w).place;
  /* No hold is extended here, so that none lasts while its waiter yields. Were one taken for
     one that does, the node would keep it; and another node the other waiter's (I5, I6). */
  assert(!(HAS(n, w) && P(n, w).granted == 0));
  if
#ifdef V_NO_ROUNDS
  :: HAS(n, w) ->
#else
  :: P(n, w).granted == EARLIER || P(n, w).granted == PRESENT && !P(n, w).old ->
#endif
    P(n, w).granted = 0;
    node[n].holder = (HAS(n, w) -> 0 : node[n].holder);
    if
    :: P(n, w).mark -> told = 0
    :: !P(n, w).mark && P(n, w).had != 0 && !FINAL(P(n, w).yield) ->
      /* It stands where it stood. */
      P(n, w).place = MAX(P(n, w).had, TICKET(P(n, w).yield)); told = P(n, w).place
    :: else -> enqueue(n, w, TICKET(P(n, w).yield), FINAL(P(n, w).yield), 0)
    fi;
    P(n, w).had = 0
  :: else
  fi
}

/* fair_release.lua, with a mark where a command may come later. */
inline fair_release(n, w) {
  node[n].holder = (HAS(n, w) -> 0 : node[n].holder);
  P(n, w).place = 0;
  P(n, w).granted = 0;
  P(n, w).had = 0;
#ifndef V_NO_MARK
  P(n, w).mark = (P(n, w).late != 0 || P(n, w).yield != 0)
#endif
}

#ifdef V_RETICKET
#define RETICKET(w) ticket[w] = 0; final[w] = 0
#else
#define RETICKET(w) skip
#endif

#ifdef SORTED
SCRATCH swapped;
#define SWAP(x, y) swapped = x; x = y; y = swapped; swapped = 0
#define PAIR(n, w) (P(n, w).ask + (P(n, w).reply << 3) + (P(n, w).late << 6) + (P(n, w).yield << 11) \
  + (P(n, w).old << 16) + (P(n, w).release << 17) + (P(n, w).place << 18) \
  + (P(n, w).granted << 21) + (P(n, w).mark << 23) + (P(n, w).had << 24) + (P(n, w).then << 27))

inline swap_pairs(a, b, w) {
  SWAP(P(a, w).ask, P(b, w).ask);
  SWAP(P(a, w).reply, P(b, w).reply);
  SWAP(P(a, w).late, P(b, w).late);
  SWAP(P(a, w).then, P(b, w).then);
  SWAP(P(a, w).yield, P(b, w).yield);
  SWAP(P(a, w).old, P(b, w).old);
  SWAP(P(a, w).release, P(b, w).release);
  SWAP(P(a, w).place, P(b, w).place);
  SWAP(P(a, w).granted, P(b, w).granted);
  SWAP(P(a, w).had, P(b, w).had);
  SWAP(P(a, w).mark, P(b, w).mark)
}
inline sort_nodes(a, b) {
  if
  :: node[a].holder > node[b].holder || node[a].holder == node[b].holder &&
     (PAIR(a, 0) > PAIR(b, 0) || PAIR(a, 0) == PAIR(b, 0) && PAIR(a, 1) > PAIR(b, 1)) ->
    swap_pairs(a, b, 0); swap_pairs(a, b, 1);
    SWAP(node[a].holder, node[b].holder)
  :: else
  fi
}
#ifdef TWO
#define SORT sort_nodes(0, 1)
#else
#define SORT sort_nodes(0, 1); sort_nodes(1, 2); sort_nodes(0, 1)
#endif
#else
#define SORT skip
#endif
