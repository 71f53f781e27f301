package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Messages are written and read by their field numbers alone, so that what is checked is what is on the wire, and no file of the server's
// is believed. On grpc-go's side they are unknown fields of an empty message: so they take the way of every other message.

// encoder is a message that is being written.
type encoder struct{ bytes []byte }

func (e *encoder) text(number protowire.Number, text string) {
	e.bytes = protowire.AppendTag(e.bytes, number, protowire.BytesType)
	e.bytes = protowire.AppendString(e.bytes, text)
}

func (e *encoder) integer(number protowire.Number, value int64) {
	e.bytes = protowire.AppendTag(e.bytes, number, protowire.VarintType)
	e.bytes = protowire.AppendVarint(e.bytes, uint64(value))
}

func (e *encoder) message(number protowire.Number, inner encoder) {
	e.text(number, string(inner.bytes))
}

// asProto is the message as grpc-go takes it.
func (e *encoder) asProto() *emptypb.Empty {
	var message emptypb.Empty
	message.ProtoReflect().SetUnknown(e.bytes)
	return &message
}

// manifestMetadata is an AppStreamRequest with a ManifestRequestMetadata.
func manifestMetadata(appName, appRelPath, checksum string, size int64, env []string) encoder {
	var inner, outer encoder
	inner.text(1, appName)
	inner.text(2, appRelPath)
	inner.text(3, checksum)
	inner.integer(4, size)
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		var variable encoder
		variable.text(1, name)
		variable.text(2, value)
		inner.message(5, variable)
	}
	outer.message(1, inner)
	return outer
}

// file is an AppStreamRequest with a File.
func file(chunk []byte) encoder {
	var inner, outer encoder
	inner.text(1, string(chunk))
	outer.message(2, inner)
	return outer
}

// message is a message that was read: the values of each field, in order. A number is written in decimal digits.
type message map[protowire.Number][]string

func parse(bytes []byte) (message, error) {
	fields := message{}
	for len(bytes) > 0 {
		number, kind, count := protowire.ConsumeTag(bytes)
		if count < 0 {
			return nil, protowire.ParseError(count)
		}
		bytes = bytes[count:]
		var value string
		switch kind {
		case protowire.BytesType:
			value, count = protowire.ConsumeString(bytes)
		case protowire.VarintType:
			var integer uint64
			integer, count = protowire.ConsumeVarint(bytes)
			value = fmt.Sprint(integer)
		default:
			return nil, fmt.Errorf("field %d has wire type %d", number, kind)
		}
		if count < 0 {
			return nil, protowire.ParseError(count)
		}
		bytes = bytes[count:]
		fields[number] = append(fields[number], value)
	}
	return fields, nil
}

// equal says how a message differs from what is expected.
func (m message) equal(expected message) error {
	if got, want := fmt.Sprintf("%q", m), fmt.Sprintf("%q", expected); got != want {
		return fmt.Errorf("got %s, want %s", got, want)
	}
	return nil
}
