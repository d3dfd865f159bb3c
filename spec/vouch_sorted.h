/* SORT renumbers nodes, so that states which differ only in these numbers are one. */
#ifdef SORTED
byte swapped;
#define SWAP(x, y) swapped = x; x = y; y = swapped; swapped = 0

#define WEIGHT(n) (node[n].holder + (node[n].counter << 2) + (node[n].round << 7) + (node[n].young << 9) + \
  (node[n].renewal << 10) + (node[n].late << 13) + (node[n].rival << 14) + (node[n].minted << 17))

inline sort_nodes(a, b) {
  if
  :: WEIGHT(a) > WEIGHT(b) ->
    SWAP(node[a].holder, node[b].holder);
    SWAP(node[a].counter, node[b].counter);
    SWAP(node[a].round, node[b].round);
    SWAP(node[a].young, node[b].young);
    SWAP(node[a].renewal, node[b].renewal);
    SWAP(node[a].late, node[b].late);
    SWAP(node[a].rival, node[b].rival);
    SWAP(node[a].minted, node[b].minted)
  :: else
  fi
}

#define SORT sort_nodes(0, 1); sort_nodes(1, 2); sort_nodes(0, 1)
#else
#define SORT skip
#endif
