package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// pingInterval is far below what Argo CD's own server allows.
	pingInterval = 50 * time.Millisecond
	// pingedPlugin is how long the plugin runs meanwhile.
	pingedPlugin = "2"
	// fragments is the number of frames of a header block. h2 takes no more than five after the first.
	fragments = 5
)

// raw is a connection whose frames are written one by one.
type raw struct {
	net.Conn
	*http2.Framer
	// writing is held by whoever writes frames while another goroutine reads them.
	writing sync.Mutex
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func dialRaw(ctx context.Context, s *server) (*raw, error) {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "unix", s.socket)
	if err != nil {
		return nil, err
	}
	r := &raw{Conn: connection, Framer: http2.NewFramer(connection, connection)}
	r.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	r.encoder = hpack.NewEncoder(&r.block)
	if deadline, ok := ctx.Deadline(); ok {
		err = connection.SetDeadline(deadline)
	}
	_, preface := io.WriteString(connection, http2.ClientPreface)
	return r, errors.Join(err, preface, r.WriteSettings())
}

// headers is the block of a call's header.
func (r *raw) headers(s *server, method string) ([]byte, error) {
	r.block.Reset()
	authority := strings.ReplaceAll(url.QueryEscape(strings.TrimPrefix(s.socket, "/")), "+", "%20")
	for _, field := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: service + method},
		{Name: ":authority", Value: authority},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "te", Value: "trailers"},
	} {
		if err := r.encoder.WriteField(field); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(r.block.Bytes()), nil
}

// body is what a call sends after its header.
func body(u upload) ([]byte, error) {
	messages, err := u.messages()
	if err != nil {
		return nil, err
	}
	var body []byte
	for _, message := range messages {
		body = append(body, 0)
		body = binary.BigEndian.AppendUint32(body, uint32(len(message.bytes)))
		body = append(body, message.bytes...)
	}
	return body, nil
}

// answer reads until streams have ended well, with so many messages of this text between them.
func (r *raw) answer(streams int, text string) (pings int, err error) {
	ended, messages := 0, 0
	for ended < streams {
		frame, err := r.ReadFrame()
		if err != nil {
			return pings, err
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				r.writing.Lock()
				err = r.WriteSettingsAck()
				r.writing.Unlock()
			}
		case *http2.PingFrame:
			if frame.IsAck() {
				pings++
			}
		case *http2.GoAwayFrame:
			err = fmt.Errorf("GOAWAY %v %q", frame.ErrCode, frame.DebugData())
		case *http2.RSTStreamFrame:
			err = fmt.Errorf("RST_STREAM %v", frame.ErrCode)
		case *http2.DataFrame:
			if strings.Contains(string(frame.Data()), text) {
				messages++
			}
		case *http2.MetaHeadersFrame:
			if frame.StreamEnded() {
				ended++
				err = grpcStatus(frame)
			}
		}
		if err != nil {
			return pings, err
		}
	}
	if messages != streams {
		return pings, fmt.Errorf("%d answers on %d streams", messages, streams)
	}
	return pings, nil
}

func grpcStatus(trailers *http2.MetaHeadersFrame) error {
	for _, field := range trailers.RegularFields() {
		if field.Name == "grpc-status" && field.Value == "0" {
			return nil
		}
	}
	return fmt.Errorf("trailers %v", trailers.RegularFields())
}

func checkFrames(ctx context.Context, s *server) error {
	r, err := dialRaw(ctx, s)
	if err != nil {
		return err
	}
	defer r.Close()
	body, err := body(guestbook())
	if err != nil {
		return err
	}
	// From the second stream on the authority is in the header table.
	const streams = 3
	for i := range uint32(streams) {
		stream := 2*i + 1
		block, err := r.headers(s, "GenerateManifest")
		if err != nil {
			return err
		}
		size := len(block)/fragments + 1
		cut := min(size, len(block))
		first := http2.HeadersFrameParam{
			StreamID: stream, BlockFragment: block[:cut], EndHeaders: cut == len(block), PadLength: 7,
			Priority: http2.PriorityParam{StreamDep: 0, Weight: 15},
		}
		err = r.WriteHeaders(first)
		for begin := cut; begin < len(block) && err == nil; begin += size {
			end := min(begin+size, len(block))
			err = r.WriteContinuation(stream, end == len(block), block[begin:end])
		}
		if err := errors.Join(err, r.WriteDataPadded(stream, true, body, make([]byte, 9))); err != nil {
			return err
		}
	}
	_, err = r.answer(streams, manifest)
	return err
}

func checkPings(ctx context.Context, s *server) error {
	r, err := dialRaw(ctx, s)
	if err != nil {
		return err
	}
	defer r.Close()
	body, err := body(guestbook("ACTION=slow", "TAKES="+pingedPlugin))
	if err != nil {
		return err
	}
	block, err := r.headers(s, "GenerateManifest")
	if err != nil {
		return err
	}
	header := http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true}
	if err := errors.Join(r.WriteHeaders(header), r.WriteData(1, true, body)); err != nil {
		return err
	}
	type result struct {
		pings int
		err   error
	}
	answered := make(chan result, 1)
	go func() {
		pings, err := r.answer(1, manifest)
		answered <- result{pings, err}
	}()
	ticks := time.NewTicker(pingInterval)
	defer ticks.Stop()
	sent := 0
	for {
		select {
		case result := <-answered:
			// The last one may still be on its way.
			if result.err == nil && (sent < 10 || result.pings < sent-1) {
				return fmt.Errorf("%d of %d pings were answered", result.pings, sent)
			}
			return result.err
		case <-ticks.C:
			r.writing.Lock()
			err := r.WritePing(false, [8]byte{byte(sent)})
			r.writing.Unlock()
			if err != nil {
				return err
			}
			sent++
		}
	}
}
