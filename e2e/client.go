package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	service = "/plugin.ConfigManagementPluginService/"
	// messageBytesMax is the default of ARGOCD_GRPC_MAX_SIZE_MB.
	messageBytesMax = 100 << 20
	// chunkBytes is the default of ARGOCD_CMP_CHUNK_SIZE.
	chunkBytes = 1024
)

// dial connects as the repo-server does: by the path, which so becomes the authority of every request.
func dial(s *server, parameters keepalive.ClientParameters) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:"+s.socket,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", s.socket)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax), grpc.MaxCallSendMsgSize(messageBytesMax)),
		grpc.WithKeepaliveParams(parameters),
	)
}

// connected runs something with a connection of its own.
func connected(s *server, use func(*grpc.ClientConn) error) error {
	connection, err := dial(s, keepalive.ClientParameters{})
	if err != nil {
		return err
	}
	return errors.Join(use(connection), connection.Close())
}

// unary calls a method with an empty message.
func unary(ctx context.Context, connection *grpc.ClientConn, method string) (message, error) {
	var answer emptypb.Empty
	if err := connection.Invoke(ctx, method, &emptypb.Empty{}, &answer); err != nil {
		return nil, err
	}
	return parse(answer.ProtoReflect().GetUnknown())
}

// upload is what a call with files sends.
type upload struct {
	files    map[string]string
	appPath  string
	env      []string // NAME=VALUE
	checksum string   // instead of the right one
}

// guestbook is an application that the plugin supports.
func guestbook(env ...string) upload {
	return upload{
		files:   map[string]string{"app/marker": "", "app/text": "hello", "other/text": "there"},
		appPath: "app",
		env:     append([]string{"ARGOCD_APP_NAME=guestbook"}, env...),
	}
}

// messages are the messages of the upload: metadata, then chunks.
func (u upload) messages() ([]encoder, error) {
	archive, err := pack(u.files)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(archive)
	checksum := u.checksum
	if checksum == "" {
		checksum = hex.EncodeToString(sum[:])
	}
	messages := []encoder{manifestMetadata(path.Base(u.appPath), u.appPath, checksum, int64(len(archive)), u.env)}
	for begin := 0; begin < len(archive); begin += chunkBytes {
		messages = append(messages, file(archive[begin:min(begin+chunkBytes, len(archive))]))
	}
	return messages, nil
}

func pack(files map[string]string) ([]byte, error) {
	var packed bytes.Buffer
	compressor := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressor)
	for name, text := range files {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), compressor.Close())
	return packed.Bytes(), err
}

// call uploads and gives the answer.
func call(ctx context.Context, connection *grpc.ClientConn, method string, u upload) (message, error) {
	messages, err := u.messages()
	if err != nil {
		return nil, err
	}
	return stream(ctx, connection, method, messages)
}

// stream sends messages, and gives the answer.
func stream(ctx context.Context, connection *grpc.ClientConn, method string, messages []encoder) (message, error) {
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, service+method)
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		// EOF means that the answer is there already.
		if err := stream.SendMsg(message.asProto()); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("sending: %w", err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	var answer emptypb.Empty
	if err := stream.RecvMsg(&answer); err != nil {
		return nil, err
	}
	return parse(answer.ProtoReflect().GetUnknown())
}
