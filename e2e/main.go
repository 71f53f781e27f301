// Command e2e is a client of `tiphys cmp-server` made of what Argo CD's repo-server is made of: grpc-go, dialled in the same way.
//
// It starts the server, runs every check, prints a line for each and exits with 1 if one failed.
//
// The checks hold for Argo CD's own server, too, but for those of what it does differently: it announces the dynamic parameters first, puts
// error texts into the version, knows no symbols in reflection, refuses frequent pings, and does not end when it is asked to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// checkTimeout is how long one check may take.
const checkTimeout = time.Minute

// A check asks a server something and says what is wrong with the answer.
type check struct {
	name string
	run  func(ctx context.Context, server *server) error
}

// checks run one after another, on a server that all share: each leaves it as it was.
var checks = []check{
	{"the configuration is told without an upload", checkConfiguration},
	{"manifests of an upload in chunks of 1 KiB", checkGenerate},
	{"a manifest of 8 MiB, many times the window of flow control", checkLargeAnswer},
	{"discovery says which folder is supported", checkMatch},
	{"announcements, static and dynamic", checkAnnouncements},
	{"a first message that is no metadata", checkNoMetadata},
	{"a message that is no file", checkNoFile},
	{"a wrong checksum", checkChecksum},
	{"the version service", checkVersion},
	{"the health service", checkHealth},
	{"reflection, v1", checkReflection},
	{"reflection, v1alpha", checkReflectionAlpha},
	{"headers that fill the header table again and again", checkHeaderTable},
	{"100 streams at once on one connection", checkManyStreams},
	{"100 connections one after another", checkManyConnections},
	{"a client that goes in the middle of an upload", checkLostClient},
	{"a cancelled call ends the plugin", checkCancel},
	{"header blocks in several frames, with padding and priority", checkFrames},
	{"pings of 50 ms under a running plugin are all answered", checkPings},
	{"a path with every octet that is odd in an authority", checkOddPath},
}

// slowChecks run beside the others, because they take long by nature.
var slowChecks = []check{
	{"grpc-go's own keep-alive under a slow plugin", checkKeepAlive},
	{"the answer comes before the deadline, with the standard error so far", checkDeadline},
}

func main() {
	program := flag.String("server", "target/debug/tiphys", "the program whose cmp-server is checked")
	calls := flag.Bool("calls", false, "make the calls of standard input and print their durations, for the bench `server` of tiphys-cmp")
	flag.Parse()
	err := error(nil)
	if *calls {
		err = makeCalls()
	} else {
		err = run(*program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	server, err := startServer(program, "sockets")
	if err != nil {
		return err
	}
	failed := runAll(server)
	if err := server.stop(); err != nil {
		failed++
		report("the server ends well", 0, err)
	}
	if failed > 0 {
		return fmt.Errorf("%d checks failed; the end of the server's log:\n%s", failed, server.log.end())
	}
	return nil
}

// runAll returns how many checks failed.
func runAll(server *server) int {
	var failed int
	var slow sync.WaitGroup
	slowErrors := make([]error, len(slowChecks))
	begin := time.Now()
	for i, check := range slowChecks {
		slow.Go(func() { slowErrors[i] = runOne(check, server) })
	}
	for _, check := range checks {
		begin := time.Now()
		err := runOne(check, server)
		report(check.name, time.Since(begin), err)
		if err != nil {
			failed++
		}
	}
	slow.Wait()
	for i, check := range slowChecks {
		report(check.name, time.Since(begin), slowErrors[i])
		if slowErrors[i] != nil {
			failed++
		}
	}
	return failed
}

func runOne(check check, server *server) error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	return check.run(ctx, server)
}

func report(name string, took time.Duration, err error) {
	if err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
		return
	}
	fmt.Printf("ok   %s (%d ms)\n", name, took.Milliseconds())
}
