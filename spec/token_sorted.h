/* SORT for token.pml; see sorted.h. Holds are told apart by their numbers here. */
#ifdef SORTED
byte swapped;
#define SWAP(x, y) swapped = x; x = y; y = swapped; swapped = 0

#define PAIR(n, h) (P(n, h).acquire + (P(n, h).fence << 2) + (P(n, h).reply << 4) + (P(n, h).repair << 8) + (P(n, h).reserve << 9))
#ifdef WRITTEN
#define FLOOR(n)        (node[n].floor << 28)
#define SWAP_FLOOR(a, b) SWAP(node[a].floor, node[b].floor);
#else
#define FLOOR(n)        0
#define SWAP_FLOOR(a, b)
#endif
#define NODE(n)    (node[n].holder + (node[n].counter << 2) + (PAIR(n, 0) << 6) + (PAIR(n, 1) << 17) + FLOOR(n))
#if H == 3
#define SAME(a, b)    (NODE(a) == NODE(b) && PAIR(a, 2) > PAIR(b, 2))
#else
#define SAME(a, b)    false
#endif

inline swap_pairs(a, b, h) {
  SWAP(P(a, h).acquire, P(b, h).acquire);
  SWAP(P(a, h).reply, P(b, h).reply);
  SWAP(P(a, h).repair, P(b, h).repair);
  SWAP(P(a, h).reserve, P(b, h).reserve);
  SWAP(P(a, h).fence, P(b, h).fence)
}

inline sort_nodes(a, b) {
  if
  :: NODE(a) > NODE(b) || SAME(a, b) ->
    SWAP(node[a].holder, node[b].holder);
    SWAP(node[a].counter, node[b].counter);
    SWAP_FLOOR(a, b)
#if H == 3
    swap_pairs(a, b, 2);
#endif
    swap_pairs(a, b, 0);
    swap_pairs(a, b, 1)
  :: else
  fi
}

#define SORT sort_nodes(0, 1); sort_nodes(1, 2); sort_nodes(0, 1)
#else
#define SORT skip
#endif
