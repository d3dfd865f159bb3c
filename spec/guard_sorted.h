/* SORT renumbers nodes, so that states which differ only in these numbers are one. */
#ifdef SORTED
byte swapped;
#define SWAP(x, y) swapped = x; x = y; y = swapped; swapped = 0

#ifdef EXTEND
#define PAIR(n, h) (P(n, h).way + (P(n, h).before << 2) + (P(n, h).extend << 4))
#define SWAP_EXTEND(a, b, h) SWAP(P(a, h).extend, P(b, h).extend)
#else
#define PAIR(n, h) (P(n, h).way + (P(n, h).before << 2))
#define SWAP_EXTEND(a, b, h) skip
#endif
#define WEIGHT(n) (node[n].holder + (node[n].round << 2) + (node[n].saved << 4) + (node[n].young << 6) + \
  (PAIR(n, 0) << 7) + (PAIR(n, 1) << 14) + \
  (node[n].fresh << 21) + (node[n].then << 22))

inline swap_pairs(a, b, h) {
  SWAP(P(a, h).way, P(b, h).way);
  SWAP(P(a, h).before, P(b, h).before);
  SWAP_EXTEND(a, b, h)
}

inline sort_nodes(a, b) {
  if
  :: WEIGHT(a) > WEIGHT(b) ->
    SWAP(node[a].holder, node[b].holder);
    SWAP(node[a].round, node[b].round);
    SWAP(node[a].saved, node[b].saved);
    SWAP(node[a].fresh, node[b].fresh);
    SWAP(node[a].then, node[b].then);
    SWAP(node[a].young, node[b].young);
    swap_pairs(a, b, 0);
    swap_pairs(a, b, 1)
  :: else
  fi
}

#define SORT sort_nodes(0, 1); sort_nodes(1, 2); sort_nodes(0, 1)
#else
#define SORT skip
#endif
