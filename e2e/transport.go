package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
)

const (
	manyStreams     = 100
	manyConnections = 100
	// headerCalls with headerValues values each fill the header table of 4 KiB several times over.
	headerCalls  = 20
	headerValues = 20
	// hangDeadline is the deadline of a call whose plugin never ends.
	hangDeadline = 3 * time.Second
	// hangCalls is how many such calls there are at once.
	hangCalls = 8
	// lateAnswer is how long after its deadline an answer is still waited for.
	lateAnswer = 15 * time.Second
	// goneTimeout is how long a plugin's process may outlive its call.
	goneTimeout = 15 * time.Second
	// keepAlive is the least that grpc-go takes for the time between two pings; the repo-server's is twice as long.
	keepAlive = 10 * time.Second
	// slowPlugin is how many seconds the plugin runs meanwhile.
	slowPlugin = "11"
)

func checkHeaderTable(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		for i := range headerCalls {
			var pairs []string
			for j := range headerValues {
				pairs = append(pairs, fmt.Sprintf("x-header-%d", j), strings.Repeat(fmt.Sprintf("%d.%d%%", i%3, j), 10))
			}
			if err := generates(metadata.AppendToOutgoingContext(ctx, pairs...), connection, guestbook()); err != nil {
				return fmt.Errorf("call %d: %w", i, err)
			}
		}
		return nil
	})
}

// atOnce runs something many times at once and gives the first error.
func atOnce(count int, run func(i int) error) error {
	errs := make(chan error, count)
	for i := range count {
		go func() { errs <- run(i) }()
	}
	var first error
	for range count {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func checkManyStreams(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		return atOnce(manyStreams, func(i int) error {
			u := guestbook("X=" + strconv.Itoa(i))
			u.files["app/text"] = strconv.Itoa(i)
			answer, err := call(ctx, connection, "GenerateManifest", u)
			if err != nil {
				return fmt.Errorf("stream %d: %w", i, err)
			}
			return answer.equal(message{1: {strings.Replace(manifest, "hello", strconv.Itoa(i), 1)}})
		})
	})
}

func checkManyConnections(ctx context.Context, s *server) error {
	for i := range manyConnections {
		err := connected(s, func(connection *grpc.ClientConn) error {
			_, err := unary(ctx, connection, service+"CheckPluginConfiguration")
			return err
		})
		if err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
	}
	return nil
}

func checkLostClient(ctx context.Context, s *server) error {
	connection, err := dial(s, keepalive.ClientParameters{})
	if err != nil {
		return err
	}
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, service+"GenerateManifest")
	if err != nil {
		return errors.Join(err, connection.Close())
	}
	messages, err := guestbook().messages()
	if err != nil {
		return errors.Join(err, connection.Close())
	}
	err = errors.Join(stream.SendMsg(messages[0].asProto()), connection.Close())
	if err != nil {
		return err
	}
	return checkGenerate(ctx, s)
}

// hanging starts a call that hangs in the plugin and gives the plugin's process, and the call's error when there is one.
func hanging(ctx context.Context, s *server, connection *grpc.ClientConn) (int, <-chan error, error) {
	folder, err := os.MkdirTemp(s.folder, "hanging-")
	if err != nil {
		return 0, nil, err
	}
	file := filepath.Join(folder, "pid")
	answered := make(chan error, 1)
	go func() {
		_, err := call(ctx, connection, "GenerateManifest", guestbook("ACTION=hang", "PID_FILE="+file))
		answered <- err
	}()
	for {
		text, err := os.ReadFile(file)
		if line, ended := strings.CutSuffix(string(text), "\n"); err == nil && ended {
			pid, err := strconv.Atoi(line)
			return pid, answered, err
		}
		select {
		case err := <-answered:
			return 0, nil, fmt.Errorf("answered before the plugin ran: %w", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// gone waits until there is no such process any more.
func gone(pid int) error {
	deadline := time.Now().Add(goneTimeout)
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		if time.Now().After(deadline) {
			return fmt.Errorf("the plugin's process %d is still there", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

func checkCancel(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		pid, answered, err := hanging(ctx, s, connection)
		if err != nil {
			return err
		}
		cancel()
		return errors.Join(fails(<-answered, codes.Canceled, ""), gone(pid))
	})
}

// patient is a context that tells the server a deadline and does not end at it, so that a late answer is seen as what it is.
type patient struct {
	context.Context
	deadline time.Time
}

func (p patient) Deadline() (time.Time, bool) { return p.deadline, true }

// checkDeadline has several calls hang at once. On a busy machine some answers may be late, but if none of the server's comes before
// the deadline, it does not answer in time.
func checkDeadline(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		ctx, cancel := context.WithTimeout(ctx, hangDeadline+lateAnswer)
		defer cancel()
		var inTime atomic.Int32
		err := atOnce(hangCalls, func(int) error {
			ctx := patient{ctx, time.Now().Add(hangDeadline)}
			pid, answered, err := hanging(ctx, s, connection)
			if err != nil {
				return err
			}
			err = <-answered
			// The text shows that the server answered: grpc-go's own error knows nothing of the plugin.
			if time.Now().Before(ctx.deadline) && fails(err, codes.DeadlineExceeded, "so far") == nil {
				inTime.Add(1)
			}
			return errors.Join(fails(err, codes.DeadlineExceeded, ""), gone(pid))
		})
		if err == nil && inTime.Load() == 0 {
			return fmt.Errorf("of %d answers none came before the deadline", hangCalls)
		}
		return err
	})
}

func checkKeepAlive(ctx context.Context, s *server) error {
	connection, err := dial(s, keepalive.ClientParameters{Time: keepAlive, Timeout: keepAlive / 2})
	if err != nil {
		return err
	}
	return errors.Join(generates(ctx, connection, guestbook("ACTION=slow", "TAKES="+slowPlugin)), connection.Close())
}

func checkOddPath(ctx context.Context, s *server) error {
	odd, err := startServer(s.program, "a@b[1]:2:3 ä!$&'()*+,;=~_")
	if err != nil {
		return err
	}
	return errors.Join(checkGenerate(ctx, odd), odd.stop())
}
