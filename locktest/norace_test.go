//go:build !race

package locktest_test

const race = false
