package main

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// work is the leader's work: how many steps are done, and in which term. Usually it is in a
// database; here it is in a Redis, beside the locks.
type work struct{ db redis.UniversalClient }

const workKey = "example:migration:work"

// begin forgets what an earlier run has done.
func begin(ctx context.Context, db redis.UniversalClient) error { return db.Del(ctx, workKey).Err() }

// claim shuts out the leaders of all earlier terms, and returns how many steps are done. In a
// database:
//
//	UPDATE work SET term = $1 WHERE term <= $1 RETURNING done
var claim = redis.NewScript(`
	if tonumber(redis.call('HGET', KEYS[1], 'term') or '0') > tonumber(ARGV[1]) then
		return redis.error_reply('ERR the term is over')
	end
	redis.call('HSET', KEYS[1], 'term', ARGV[1])
	redis.call('PEXPIRE', KEYS[1], 60000)
	return tonumber(redis.call('HGET', KEYS[1], 'done') or '0')`)

func (w work) claim(ctx context.Context, term int64) (done int, err error) {
	return claim.Run(ctx, w.db, []string{workKey}, term).Int()
}

// step does the next step, unless a later term has claimed the work:
//
//	UPDATE work SET done = done + 1 WHERE term = $1 RETURNING done
var step = redis.NewScript(`
	if redis.call('HGET', KEYS[1], 'term') ~= ARGV[1] then
		return redis.error_reply('ERR the term is over')
	end
	return redis.call('HINCRBY', KEYS[1], 'done', 1)`)

func (w work) step(ctx context.Context, term int64) (done int, err error) {
	return step.Run(ctx, w.db, []string{workKey}, term).Int()
}
