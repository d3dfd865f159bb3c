// Package kind is for authors of a kind of lock: it defines what package lock needs to know of a
// kind. A [Kind] is a set of scripts; everything else (rounds, tokens, renewal, loss, waiting) is
// the same for all kinds, and is in package lock.
//
// It is below package lock, which must know what a kind is and must not know any kind. Package lock
// provides its maker here, and package engine asks for it. So kinds can create locks without
// additions to package lock's public API that only they need.
package kind
