package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionalphapb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// manifest is what the plugin prints.
const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"guestbook"},"data":{"text":"hello"}}`

func checkConfiguration(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		answer, err := unary(ctx, connection, service+"CheckPluginConfiguration")
		if err != nil {
			return err
		}
		return answer.equal(message{1: {"1"}, 2: {"1"}})
	})
}

func checkGenerate(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error { return generates(ctx, connection, guestbook()) })
}

// generates says whether the plugin's manifest comes back.
func generates(ctx context.Context, connection *grpc.ClientConn, u upload) error {
	answer, err := call(ctx, connection, "GenerateManifest", u)
	if err != nil {
		return err
	}
	return answer.equal(message{1: {manifest}})
}

func checkLargeAnswer(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		answer, err := call(ctx, connection, "GenerateManifest", guestbook("ACTION=large"))
		if err != nil {
			return err
		}
		text := strings.Repeat("x", 8<<20)
		if len(answer[1]) != 1 || !strings.Contains(answer[1][0], `"`+text+`"`) {
			return fmt.Errorf("%d manifests, none with the text", len(answer[1]))
		}
		return nil
	})
}

func checkMatch(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		supported, err := call(ctx, connection, "MatchRepository", guestbook())
		if err != nil {
			return err
		}
		other := guestbook()
		other.appPath = "other"
		unsupported, err := call(ctx, connection, "MatchRepository", other)
		if err != nil {
			return err
		}
		return errors.Join(supported.equal(message{1: {"1"}, 2: {"1"}}), unsupported.equal(message{2: {"1"}}))
	})
}

func checkAnnouncements(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		answer, err := call(ctx, connection, "GetParametersAnnouncement", guestbook())
		if err != nil {
			return err
		}
		expected := []message{
			{1: {"first"}, 2: {"First"}, 3: {"What comes first."}, 4: {"1"}, 5: {"number"}, 6: {"string"}, 7: {"1"}},
			{1: {"many"}, 6: {"map"}, 9: {"\n\x01k\x12\x01v"}},
			{1: {"guestbook"}, 6: {"array"}, 8: {"a", "b"}},
		}
		if len(answer[1]) != len(expected) {
			return fmt.Errorf("%d announcements", len(answer[1]))
		}
		for i, bytes := range answer[1] {
			announcement, err := parse([]byte(bytes))
			if err != nil {
				return err
			}
			if err := announcement.equal(expected[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// fails says whether a call failed with this code, and with a text that contains this one.
func fails(err error, code codes.Code, text string) error {
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), text) {
		return fmt.Errorf("got %v, want code %v and a text with %q", err, code, text)
	}
	return nil
}

func checkNoMetadata(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		_, err := stream(ctx, connection, "GenerateManifest", []encoder{file([]byte("chunk"))})
		return fails(err, codes.Unknown, "generate manifest error receiving stream: error getting stream metadata: metadata is nil")
	})
}

func checkNoFile(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		messages, err := guestbook().messages()
		if err != nil {
			return err
		}
		_, err = stream(ctx, connection, "MatchRepository", slices.Insert(messages, 1, encoder{}))
		return fails(err, codes.Unknown, "match repository error receiving stream: error receiving tgz file: stream request file is nil")
	})
}

func checkChecksum(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		u := guestbook()
		u.checksum = strings.Repeat("0", 64)
		_, err := call(ctx, connection, "GetParametersAnnouncement", u)
		return fails(err, codes.Unknown, "parameters announcement error receiving stream: error receiving tgz file: file checksum validation error")
	})
}

func checkVersion(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		answer, err := unary(ctx, connection, "/version.VersionService/Version")
		if err != nil {
			return err
		}
		if len(answer[1]) != 1 || answer[10] != nil || answer[11] != nil {
			return fmt.Errorf("got %q, want a version and nothing of tools", answer)
		}
		part := message{7: answer[7], 8: answer[8]}
		return part.equal(message{7: {"rustc"}, 8: {runtime.GOOS + "/" + runtime.GOARCH}})
	})
}

func checkHealth(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		client := healthpb.NewHealthClient(connection)
		answer, err := client.Check(ctx, &healthpb.HealthCheckRequest{})
		if err != nil {
			return err
		}
		if answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			return fmt.Errorf("got %v", answer.GetStatus())
		}
		_, err = client.Check(ctx, &healthpb.HealthCheckRequest{Service: "nobody"})
		return fails(err, codes.NotFound, "")
	})
}

// services are all that reflection lists.
var services = []string{
	"grpc.health.v1.Health",
	"grpc.reflection.v1.ServerReflection",
	"grpc.reflection.v1alpha.ServerReflection",
	"plugin.ConfigManagementPluginService",
	"version.VersionService",
}

func checkReflection(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		stream, err := reflectionpb.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
		if err != nil {
			return err
		}
		list := &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}
		if err := stream.Send(list); err != nil {
			return err
		}
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		var names []string
		for _, service := range answer.GetListServicesResponse().GetService() {
			names = append(names, service.GetName())
		}
		if slices.Sort(names); !slices.Equal(names, services) {
			return fmt.Errorf("got the services %q", names)
		}
		symbol := &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "plugin.ManifestResponse"}
		if err := stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: symbol}); err != nil {
			return err
		}
		if answer, err = stream.Recv(); err != nil {
			return err
		}
		files := answer.GetFileDescriptorResponse().GetFileDescriptorProto()
		if len(files) == 0 {
			return fmt.Errorf("plugin.ManifestResponse: got %v", answer)
		}
		var file descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(files[0], &file); err != nil {
			return err
		}
		if file.GetPackage() != "plugin" {
			return fmt.Errorf("plugin.ManifestResponse is in %q", file.GetPackage())
		}
		return stream.CloseSend()
	})
}

func checkReflectionAlpha(ctx context.Context, s *server) error {
	return connected(s, func(connection *grpc.ClientConn) error {
		stream, err := reflectionalphapb.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
		if err != nil {
			return err
		}
		list := &reflectionalphapb.ServerReflectionRequest{MessageRequest: &reflectionalphapb.ServerReflectionRequest_ListServices{}}
		if err := stream.Send(list); err != nil {
			return err
		}
		answer, err := stream.Recv()
		if err != nil {
			return err
		}
		var names []string
		for _, service := range answer.GetListServicesResponse().GetService() {
			names = append(names, service.GetName())
		}
		if slices.Sort(names); !slices.Equal(names, services) {
			return fmt.Errorf("got the services %q", names)
		}
		return stream.CloseSend()
	})
}
