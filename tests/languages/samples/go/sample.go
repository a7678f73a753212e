// Package queue runs jobs in order.
package queue

import (
	"context"
	"fmt"
	log "github.com/sirupsen/logrus"
)

import "sync"

// MaxRetries says how often a job is tried.
const MaxRetries = 3

const (
	// StateIdle is the state before the first job.
	StateIdle State = iota
	StateBusy
)

var ErrClosed = fmt.Errorf("closed")

var (
	width, height int
	handler       = func(w int) int { return w }
)

// State of a queue.
type State int

type Alias = map[string]int

// Job is what a queue runs.
type Job interface {
	fmt.Stringer
	// Run does the work.
	Run(ctx context.Context) error
	Cancel()
}

type (
	// Option changes a queue.
	Option func(*Queue[any])

	pair[K comparable, V any] struct {
		key K
		val V
	}
)

// Queue holds jobs.
// It is safe for concurrent use.
type Queue[T any] struct {
	sync.Mutex
	*base
	name string // for logs
	X, Y int
	next func() T
}

// New makes a queue.
func New[T any](name string, opts ...Option) *Queue[T] {
	q := &Queue[T]{name: name}
	inner := func() {
		log.Info("made")
	}
	inner()
	return q
}

// Push adds a job.
func (q *Queue[T]) Push(job T) (int, error) {
	q.Lock()
	defer q.Unlock()
	return 0, nil
}

func (s State) String() string {
	type local struct{ n int }
	return fmt.Sprint(int(s))
}

func (*base) Close() error {
	return ErrClosed
}

//go:noinline
func main() {
	var count int
	const limit = 2
	q := New[int]("x")
	go q.Push(count + limit)
	run(&Queue[int]{})
}

func external(x int) int
