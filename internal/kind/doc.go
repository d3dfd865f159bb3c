// Package kind is for whoever writes a kind of lock: it says what package lock needs to know
// of one. A [Kind] is a set of scripts; the rest - rounds, tokens, renewal, loss, waiting - is
// the same for all kinds, and is package lock's.
//
// It stands below package lock, which must know what a kind is and must not know any. So that
// kinds can have locks made without anything in package lock's public API that only they need,
// package lock provides its maker here, and package engine asks for it.
package kind
