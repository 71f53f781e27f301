package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// answerTimeout is how long a measured call may take.
const answerTimeout = 2 * time.Minute

// measuredCall is one line of standard input with --calls: a call that is made on a connection of its own.
type measuredCall struct {
	Socket   string
	Method   string
	Archive  string // file with the archive; empty for a call without an upload
	Checksum string
	Env      []string // NAME=VALUE
	// Timeout is the deadline that the server receives. The client does not end the call at it.
	Timeout time.Duration
	// Count is how many such calls run at once.
	Count int
}

// outcome is how a call ended.
type outcome struct {
	// Ended is the duration from before the client connects until the status is complete.
	Ended time.Duration
	Code  codes.Code
	Error string
	Bytes int // length of the message
}

// makeCalls makes the calls of standard input, and prints the outcomes of each line as one line of JSON.
func makeCalls() error {
	lines, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var call measuredCall
		if err := lines.Decode(&call); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var archive []byte
		if call.Archive != "" {
			var err error
			if archive, err = os.ReadFile(call.Archive); err != nil {
				return err
			}
		}
		outcomes := make([]outcome, call.Count)
		var running sync.WaitGroup
		for i := range outcomes {
			running.Go(func() { outcomes[i] = call.measure(archive) })
		}
		running.Wait()
		if err := answers.Encode(outcomes); err != nil {
			return err
		}
	}
}

func (c *measuredCall) measure(archive []byte) outcome {
	var result outcome
	begin := time.Now()
	answer, err := c.make(archive, begin)
	result.Ended = time.Since(begin)
	if err != nil {
		result.Code, result.Error = status.Code(err), err.Error()
	}
	result.Bytes = len(answer)
	return result
}

func (c *measuredCall) make(archive []byte, begin time.Time) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	s := &server{socket: c.Socket}
	connection, err := dial(s, keepalive.ClientParameters{})
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if c.Timeout > 0 {
		ctx = patient{ctx, begin.Add(c.Timeout)}
	}
	// As a stream of answers, grpc-go returns the message before the status arrives.
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := connection.NewStream(ctx, desc, service+c.Method)
	if err != nil {
		return nil, err
	}
	var first encoder
	if c.Archive != "" {
		first = manifestMetadata("bench", ".", c.Checksum, int64(len(archive)), c.Env)
	}
	err = stream.SendMsg(first.asProto())
	for chunk := range slices.Chunk(archive, chunkBytes) {
		if err != nil {
			break
		}
		message := file(chunk)
		err = stream.SendMsg(message.asProto())
	}
	// EOF means that the status is there already.
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	var answer emptypb.Empty
	if err := stream.RecvMsg(&answer); err != nil {
		return nil, err
	}
	if err := stream.RecvMsg(&emptypb.Empty{}); !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, errors.New("no status follows the message"))
	}
	return answer.ProtoReflect().GetUnknown(), nil
}
