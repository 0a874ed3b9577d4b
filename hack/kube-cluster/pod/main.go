// Command pod is the program in the cluster's own images: "pause", the process of a pod's sandbox, and "backend", which
// answers HTTP with the names of its pod and node. "get" is for hosts of the cluster's network, without any image.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "pause" {
		pause()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "backend" {
		backend()
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "get" {
		get(os.Args[2], os.Args[3])
		return
	}
	fmt.Fprintln(os.Stderr, "usage: pod pause | backend | get URL TIMEOUT")
	os.Exit(2)
}

// get prints the body of an answer with status 200, asked for as JSON where there is a choice, or of udp://HOST:PORT the datagram that
// answers one of ours; anything else ends with 1.
func get(url, timeout string) {
	limit, err := time.ParseDuration(timeout)
	if err != nil {
		fail(err)
	}
	if target, found := strings.CutPrefix(url, "udp://"); found {
		getDatagram(target, limit)
		return
	}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		fail(err)
	}
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	client := http.Client{Timeout: limit}
	response, err := client.Do(request)
	if err != nil {
		fail(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		fail(err)
	}
	if response.StatusCode != http.StatusOK {
		fail(fmt.Errorf("status %s", response.Status))
	}
}

func getDatagram(target string, limit time.Duration) {
	connection, err := net.Dial("udp", target)
	if err != nil {
		fail(err)
	}
	_ = connection.SetDeadline(time.Now().Add(limit))
	if _, err := connection.Write([]byte("who?")); err != nil {
		fail(err)
	}
	answer := make([]byte, 1024)
	length, err := connection.Read(answer)
	if err != nil {
		fail(err)
	}
	_, _ = os.Stdout.Write(answer[:length])
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// pause reaps what the pod's containers leave to it, and ends when it is told to.
func pause() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

// backend listens on PORT (8080), TCP and UDP, and answers "POD NODE" with POD_NAME and NODE_NAME, ready until it exits. On SIGTERM it ends the requests
// that are open; its preStop hook is to sleep until no proxy sends it new ones.
func backend() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	pod := os.Getenv("POD_NAME")
	if pod == "" {
		pod, _ = os.Hostname() // a pod's host name is its own
	}
	answer := []byte(pod + " " + os.Getenv("NODE_NAME") + "\n")
	server := &http.Server{
		Addr:              ":" + port,
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
			response.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = response.Write(answer)
		}),
	}
	go answerDatagrams(":"+port, answer)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	ended := make(chan struct{})
	go func() {
		<-signals
		limit, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(limit)
		close(ended)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		fail(err)
	}
	<-ended
}

func answerDatagrams(address string, answer []byte) {
	socket, err := net.ListenPacket("udp", address)
	if err != nil {
		fail(err)
	}
	question := make([]byte, 1024)
	for {
		_, from, err := socket.ReadFrom(question)
		if err == nil {
			_, _ = socket.WriteTo(answer, from)
		}
	}
}
