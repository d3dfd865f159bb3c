/*
 * Who may follow within the tenure of a fair lock, without a command: a round of hold h is granted, and the
 * nodes tell who stands behind it. Waiter W is of the same process as h, waiter S of another one.
 *
 * It mirrors lua/run.lua, enqueue (lua/queue.lua) and lock/run.go. Three nodes have h with ticket 1, and X, another
 * waiter of h's process, with ticket 3. X may leave at any moment: then a node has no greater ticket than that of h
 * for a while, and whoever comes gets a lower one than X had. S comes at any time, and W once the place of S is fixed:
 * what is promised is about such a W. They ask in rounds, as in queue.pml. Commands come in any order, or never.
 *
 * Parts: LATE  so many commands may come after their round; others come in time or never
 * V_...: variants that must fail.
 */

#define N      3
#define QUORUM 2
#define S      0
#define W      1
#define FIRST  1   /* the ticket of h */
#define FAR    3   /* that of X */

#define MAX(a, b) (a > b -> a : b)
#define MIN(a, b) (a < b -> a : b)

typedef Command {
  unsigned sent : 1;     /* on the way, of this round */
  unsigned late : 1;     /* on the way, of an earlier round */
  unsigned then : 4;     /* what that one states */
  unsigned settle : 1;   /* the final ticket is on the way */
  unsigned reply : 4;    /* in this round; 0: none was heard */
};

typedef Node {
  byte ticket[2];        /* with which W and S wait here; 0: they do not */
  bit  far;               /* X waits here */
  bit  asked;            /* the round of h is on the way */
  bit  granted;
  byte limit;            /* below which all that wait are of h's process; 0: nobody is */
  Command with[2];
};

Node node[N];
bit  left;               /* X has left */
bit  began[2];
bit  final[2];
byte stated[2];
bit  early;              /* W began before the round of h did */
byte delays;             /* commands that were late, so far */
bit  over;
bit  behind;             /* W passes S, which is before it */
#ifndef LATE
#define LATE 0
#endif

#define C(n, w) node[n].with[w]
#define LAST(n) MAX(MAX(node[n].ticket[S], node[n].ticket[W]), (node[n].far -> FAR : FIRST))

/* What W and S do */

inline enqueue(n, w, least) {
  if
  :: node[n].ticket[w] == 0 -> node[n].ticket[w] = MAX(least, LAST(n) + 1)
  :: else -> node[n].ticket[w] = MAX(node[n].ticket[w], least)
  fi
}
#define SAYS(n, w)  (C(n, w).reply)
#define HEARD(w)    ((SAYS(0, w) != 0) + (SAYS(1, w) != 0) + (SAYS(2, w) != 0))
#define MOST(w)     MAX(MAX(SAYS(0, w), SAYS(1, w)), SAYS(2, w))
#define AGREE(w, t) ((SAYS(0, w) == t) + (SAYS(1, w) == t) + (SAYS(2, w) == t))

inline send(n, w) {
  if
  :: C(n, w).sent && delays < LATE && !C(n, w).late -> delays++; C(n, w).late = 1; C(n, w).then = stated[w]
  :: else /* it came, or is lost */
  fi;
  C(n, w).sent = 1; C(n, w).reply = 0
}
inline finish(n, w) { C(n, w).settle = (SAYS(n, w) != stated[w]); C(n, w).sent = 0; C(n, w).reply = 0 }

inline decide(w) {
  if
  :: AGREE(w, MAX(stated[w], MOST(w))) >= QUORUM ->
    stated[w] = MAX(stated[w], MOST(w)); final[w] = 1;
    finish(0, w); finish(1, w); finish(2, w)
  :: else ->
    send(0, w); send(1, w); send(2, w);
    stated[w] = MAX(stated[w], best)
  fi
}

proctype Waiter(byte w) {
  byte best;
endwait:
  atomic {
    (w == S || final[S]) ->
    began[w] = 1;
    C(0, w).sent = 1; C(1, w).sent = 1; C(2, w).sent = 1
  }
end:
  do
  :: atomic { !over && !final[w] && HEARD(w) >= QUORUM -> best = MOST(w); decide(w); best = 0 }
  :: atomic { final[w] -> break }
  od
}

/* What the nodes do */

inline arrive(n, w) {
  if
  :: C(n, w).sent -> enqueue(n, w, stated[w]); C(n, w).reply = node[n].ticket[w]; C(n, w).sent = 0
  :: C(n, w).late -> enqueue(n, w, C(n, w).then); C(n, w).late = 0; C(n, w).then = 0
  :: C(n, w).settle -> node[n].ticket[w] = stated[w]; C(n, w).settle = 0
  fi
}
#define COMES(n, w) (C(n, w).sent || C(n, w).late || C(n, w).settle)

/* lua/run.lua. Of two with equal tickets either may be the first. */
#define OWN(n)   MAX(node[n].ticket[W], (node[n].far -> FAR : 0))
#define BELOW(n) (node[n].far && FAR <= node[n].ticket[S] || node[n].ticket[W] != 0 && node[n].ticket[W] <= node[n].ticket[S])
inline grant(n) {
  node[n].asked = 0; node[n].granted = 1;
  if
  :: node[n].ticket[S] == 0 -> node[n].limit = (OWN(n) == 0 -> 0 : OWN(n) + 1)
  :: else -> node[n].limit = (BELOW(n) -> node[n].ticket[S] : 0)
  fi
}

proctype Network(byte n) {
end:
  do
  :: atomic { !over && COMES(n, S) -> arrive(n, S) }
  :: atomic { !over && COMES(n, W) -> arrive(n, W) }
  :: atomic { !over && node[n].far && left -> node[n].far = 0 }
  :: atomic { !over && node[n].asked -> grant(n) }
  od
}

/* What h does */

#define LIMIT(n) (node[n].granted -> node[n].limit : 15)
#ifdef V_ONE_NODE
#define KNOWN(n) (node[n].granted -> node[n].limit : 0)
#define ALL      MAX(MAX(KNOWN(0), KNOWN(1)), KNOWN(2))
#else
#define ALL      MIN(MIN(LIMIT(0), LIMIT(1)), LIMIT(2))
#endif
#ifdef V_LATE_COMER
#define EARLY 1
#else
#define EARLY early
#endif
#ifdef V_UNSETTLED
#define TICKET MAX(stated[W], 1)
#define SETTLED began[W]
#else
#define TICKET stated[W]
#define SETTLED final[W]
#endif

active proctype Holder() {
  atomic {
    node[0].far = 1; node[1].far = 1; node[2].far = 1;
    run Waiter(S); run Waiter(W); run Network(0); run Network(1); run Network(2)
  }
  atomic {
    early = began[W];
    node[0].asked = 1; node[1].asked = 1; node[2].asked = 1
  }
  atomic {
    node[0].granted + node[1].granted + node[2].granted >= QUORUM ->
    behind = SETTLED && EARLY && TICKET < ALL;
    assert(!behind);
    over = 1
  }
}

active proctype Leaver() {
end:
  atomic { !left && !over -> left = 1 }
}
