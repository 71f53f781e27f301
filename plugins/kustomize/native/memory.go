package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// memoryVariable has the maximum size of the heap, in bytes.
const memoryVariable = "TIPHYS_NATIVE_MEMORY_BYTES"

// memoryCode is the exit code if the heap is larger.
const memoryCode = 87

// memoryInterval is the time between two checks. A file that allocates as fast as it can takes some 20 MB in it.
const memoryInterval = 10 * time.Millisecond

// gcPercent lets the heap grow more between collections than Go does by default, as long as it is small.
const gcPercent = 800

// A memoryLimit is the maximum size of heap and stacks, in bytes.
type memoryLimit uint64

// newMemoryLimit reads the variable's value.
func newMemoryLimit(text string) (memoryLimit, error) {
	bytesMax, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s: expected a number of bytes: %w", memoryVariable, err)
	}
	debug.SetGCPercent(gcPercent)
	// Near the limit, Go collects before the heap grows.
	debug.SetMemoryLimit(int64(bytesMax / 2))
	// The watch ends a deep recursion with its own exit code.
	debug.SetMaxStack(int(bytesMax))
	return memoryLimit(bytesMax), nil
}

// watch ends the process when its heap is larger than the limit, until stop is called.
func (limit memoryLimit) watch() (stop func()) {
	done := make(chan struct{})
	ticker := time.NewTicker(memoryInterval)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if limit.isExceeded() {
				// Without what earlier requests left.
				runtime.GC()
				if limit.isExceeded() {
					os.Exit(memoryCode)
				}
			}
		}
	}()
	return func() { close(done) }
}

func (limit memoryLimit) isExceeded() bool {
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(used)
	return used[0].Value.Uint64()+used[1].Value.Uint64() > uint64(limit)
}
