package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startTimeout and stopTimeout are how long the server may take to begin and to end.
const (
	startTimeout = 30 * time.Second
	stopTimeout  = 30 * time.Second
)

// dropIn is the name under which Argo CD's program, and ours, is a plugin server without being told.
const dropIn = "argocd-cmp-server"

// plugin does what the environment of a request tells it to.
const plugin = `apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: e2e
spec:
  version: v1.0
  provideGitCreds: true
  discover:
    fileName: ./marker
  generate:
    command:
    - sh
    - -c
    - |
      case "$ACTION" in
        hang) echo $$ > "$PID_FILE"; echo so far >&2; exec sleep 1000 ;;
        slow) sleep "$TAKES" ;;
        large) printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"text":"'
               head -c 8388608 /dev/zero | tr '\0' x
               printf '"}}'
               exit ;;
      esac
      printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"text":"%s"}}' "$ARGOCD_APP_NAME" "$(cat text)"
  parameters:
    static:
    - {name: first, title: First, tooltip: What comes first., required: true, itemType: number, collectionType: string, string: "1"}
    - {name: many, collectionType: map, map: {k: v}}
    dynamic:
      command: [sh, -c, 'printf "[{\"name\":\"%s\",\"collectionType\":\"array\",\"array\":[\"a\",\"b\"]}]" "$ARGOCD_APP_NAME"']
`

// server is a running cmp-server.
type server struct {
	program string
	folder  string
	socket  string
	log     log
	command *exec.Cmd
	ended   chan error
}

// log is what the server wrote.
type log struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *log) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// logEndBytes is how much of a log is shown.
const logEndBytes = 4096

// end is the end of the log, in whole lines.
func (l *log) end() string {
	text := l.String()
	if len(text) > logEndBytes {
		_, text, _ = strings.Cut(text[len(text)-logEndBytes:], "\n")
	}
	return text
}

// startServer starts the program with a folder of its own and waits until something accepts at the socket, whose folder has this name.
func startServer(program, sockets string) (*server, error) {
	folder, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		return nil, err
	}
	s := &server{program: program, folder: folder, ended: make(chan error, 1)}
	s.socket = filepath.Join(folder, sockets, "e2e-v1.0.sock")
	for _, name := range []string{"config", sockets, "tmp"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			return nil, errors.Join(err, os.RemoveAll(folder))
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "config", "plugin.yaml"), []byte(plugin), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	arguments := []string{"--config-dir-path", filepath.Join(folder, "config")}
	if filepath.Base(program) != dropIn {
		arguments = append([]string{"cmp-server"}, arguments...)
	}
	s.command = exec.Command(program, arguments...)
	s.command.Env = append(os.Environ(),
		"ARGOCD_PLUGINSOCKFILEPATH="+filepath.Dir(s.socket),
		"ARGOCD_CMP_WORKDIR="+filepath.Join(folder, "tmp"))
	s.command.Stdout, s.command.Stderr = &s.log, &s.log
	if err := s.command.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	go func() { s.ended <- s.command.Wait() }()
	deadline := time.After(startTimeout)
	for {
		if connection, err := net.Dial("unix", s.socket); err == nil {
			return s, connection.Close()
		}
		select {
		case err := <-s.ended:
			return nil, errors.Join(fmt.Errorf("the server ended: %v\n%s", err, s.log.end()), os.RemoveAll(folder))
		case <-deadline:
			return nil, errors.Join(fmt.Errorf("nothing accepts at %s", s.socket), s.command.Process.Kill(), os.RemoveAll(folder))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// stop ends the server as Kubernetes does and says what it left behind.
func (s *server) stop() error {
	defer os.RemoveAll(s.folder)
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("it ended with %w", err)
		}
	case <-time.After(stopTimeout):
		return errors.Join(errors.New("it does not end"), s.command.Process.Kill())
	}
	if _, err := os.Lstat(s.socket); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("it left its socket: %v", err)
	}
	return nothingLeft(filepath.Join(s.folder, "tmp"))
}

// nothingLeft looks for what calls left in the work folder. Servers that share it keep its two folders, and a lock in each.
func nothingLeft(folder string) error {
	stays := []string{".", "tiphys-cmp-server", "tiphys-cmp-server/gate", "tiphys-cmp-server/runs", "tiphys-cmp-server/runs/gate"}
	var left []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		if !slices.Contains(stays, path) {
			left = append(left, path)
		}
		return err
	})
	if len(left) > 0 {
		return errors.Join(err, fmt.Errorf("it left in its work folder: %s", strings.Join(left, ", ")))
	}
	return err
}
