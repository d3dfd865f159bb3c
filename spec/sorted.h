/*
 * SORT renumbers holds and nodes, so that states which differ in nothing but these
 * numbers are one. It is sound, as nodes are alike and so are holds, and it saves most of
 * the search. Without SORTED a trace is easier to read.
 */
#ifdef SORTED
byte swapped;
#define SWAP(x, y) swapped = x; x = y; y = swapped; swapped = 0

#ifdef EXTEND
#define PAIR(n, h)  (P(n, h).way + (P(n, h).extend << 4) + (P(n, h).repair << 7))
#define BITS 8
#else
#define PAIR(n, h)  P(n, h).way
#define BITS 4
#endif
#if H == 3
#define ALL(n)  (PAIR(n, 0) + (PAIR(n, 1) << BITS) + (PAIR(n, 2) << (2 * BITS)))
#else
#define ALL(n)  (PAIR(n, 0) + (PAIR(n, 1) << BITS))
#endif
#ifdef CRASH
#define NODE(n) (node[n].holder + (ROUND(n) << 2) + (node[n].young << 4) + (ALL(n) << 5))
#else
#define NODE(n) (node[n].holder + (ROUND(n) << 2) + (ALL(n) << 5))
#endif

inline swap_pairs(a, g, b, h) {
  SWAP(P(a, g).way, P(b, h).way);
#ifdef EXTEND
  SWAP(P(a, g).extend, P(b, h).extend);
  SWAP(P(a, g).repair, P(b, h).repair)
#endif
}

inline sort_nodes(a, b) {
  if
  :: NODE(a) > NODE(b) ->
    SWAP(node[a].holder, node[b].holder);
#ifdef EXTEND
    SWAP(node[a].round, node[b].round);
#endif
#ifdef CRASH
    SWAP(node[a].young, node[b].young);
#endif
#ifdef V_INCREMENT
    SWAP(node[a].count, node[b].count);
#endif
#if H == 3
    swap_pairs(a, 2, b, 2);
#endif
    swap_pairs(a, 0, b, 0);
    swap_pairs(a, 1, b, 1)
  :: else
  fi
}

/* Of two holds the one that has gone further stands first; then, the one with more under way. */
#ifdef ONCE
#define HOLD(h) ((won[h] << 4) + (phase[h] << 1) + passed[h])
#else
#define HOLD(h) ((phase[h] << 1) + passed[h])
#endif
#define WAYS(h) (P(0, h).way + P(1, h).way + P(2, h).way)
#define WAYS2(h) (P(0, h).way * P(0, h).way + P(1, h).way * P(1, h).way + P(2, h).way * P(2, h).way)
#define FORM(h) ((HOLD(h) << 14) + (WAYS(h) << 8) + WAYS2(h))

inline rename(n, g, h) {
  if
  :: node[n].holder == g + 1 -> node[n].holder = h + 1
  :: node[n].holder == h + 1 -> node[n].holder = g + 1
  :: else
  fi;
  swap_pairs(n, g, n, h)
}

inline sort_holds(g, h) {
  if
  :: FORM(g) > FORM(h) ->
    SWAP(phase[g], phase[h]);
    SWAP(passed[g], passed[h]);
#ifdef EXTEND
    SWAP(renewing[g], renewing[h]);
#endif
#ifdef CRASH
    SWAP(before[g], before[h]);
#endif
#ifdef ONCE
    SWAP(won[g], won[h]);
#endif
    rename(0, g, h); rename(1, g, h); rename(2, g, h)
  :: else
  fi
}

#if H == 3
#define SORT sort_holds(0, 1); sort_holds(1, 2); sort_holds(0, 1); sort_nodes(0, 1); sort_nodes(1, 2); sort_nodes(0, 1)
#else
#define SORT sort_holds(0, 1); sort_nodes(0, 1); sort_nodes(1, 2); sort_nodes(0, 1)
#endif
#else
#define SORT skip
#endif
