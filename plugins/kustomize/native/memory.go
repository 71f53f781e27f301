package main

import (
	"fmt"
	"os"
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

// limitMemory ends the process when its heap is larger than the variable says.
func limitMemory(text string) error {
	bytesMax, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%s: expected a number of bytes: %w", memoryVariable, err)
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	go func() {
		for range time.Tick(memoryInterval) {
			metrics.Read(heap)
			if heap[0].Value.Uint64() > bytesMax {
				os.Exit(memoryCode)
			}
		}
	}()
	return nil
}
