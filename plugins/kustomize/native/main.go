// Command tiphys-native renders kustomizations and evaluates Jsonnet files for tiphys, many in one process.
//
// Called by the name kustomize, it is the command line of kustomize, whose version it also prints with the argument version. Otherwise it
// answers the requests on its standard input, one after another, until the input ends. A message is its length, four bytes with the highest
// first, and JSON. The first message is its own, a greeting with the versions.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/provenance"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"
)

// protocol is the version of the messages. Only a tiphys of the same version uses this program.
const protocol = 1

// A greeting is the first message of the program.
type greeting struct {
	Protocol  int    `json:"protocol"`
	Kustomize string `json:"kustomize"`
}

// A request has one of the two fields.
type request struct {
	Kustomize *kustomization `json:"kustomize"`
	Jsonnet   *evaluation    `json:"jsonnet"`
}

// An answer has the result and the messages for standard error, or an error.
type answer struct {
	Output   *string `json:"output,omitempty"`
	Warnings string  `json:"warnings,omitempty"`
	Error    string  `json:"error,omitempty"`
}

func success(output, warnings string) answer {
	return answer{Output: &output, Warnings: warnings}
}

func main() {
	if filepath.Base(os.Args[0]) == "kustomize" {
		if commands.NewDefaultCommand().Execute() != nil {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println(provenance.GetProvenance().Semver())
		return
	}
	if err := serve(bufio.NewReader(os.Stdin), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tiphys-native:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	memory, err := newMemoryLimit(os.Getenv(memoryVariable))
	if err != nil {
		return err
	}
	if err := shield(); err != nil {
		return err
	}
	// A request reads the files of one folder, and nothing else: remote bases need a process of their own.
	http.DefaultTransport = noTransport{}
	os.Clearenv()
	if err := write(out, greeting{protocol, provenance.GetProvenance().Semver()}); err != nil {
		return err
	}
	for {
		var next request
		if err := read(in, &next); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		stop := memory.watch()
		reply := respond(next)
		stop()
		if err := write(out, reply); err != nil {
			return err
		}
	}
}

// respond returns the answer to a request. A panic of a library is the error of this request alone.
func respond(next request) (reply answer) {
	defer func() {
		if cause := recover(); cause != nil {
			reply = answer{Error: fmt.Sprint(cause)}
		}
	}()
	switch {
	case next.Kustomize != nil:
		return next.Kustomize.build()
	case next.Jsonnet != nil:
		return next.Jsonnet.evaluate()
	default:
		return answer{Error: "unknown request"}
	}
}

type noTransport struct{}

func (noTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("files of other hosts are not read")
}

func read(in io.Reader, message any) error {
	var length uint32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		return err
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		return err
	}
	return json.Unmarshal(text, message)
}

func write(out io.Writer, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, len(text)+4), uint32(len(text)))
	_, err = out.Write(append(frame, text...))
	return err
}
