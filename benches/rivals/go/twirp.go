package main

// This file implements the echo call in Twirp's protocol, protobuf over
// HTTP/1.1, on net/http: a lower bound for the cost of Twirp's generated code.

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	twirpPath   = "/twirp/" + serviceName + "/Benchmark"
	contentType = "application/protobuf"
)

func serveTwirp(listener net.Listener, sleep time.Duration) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+twirpPath, func(w http.ResponseWriter, r *http.Request) {
		body, err := readBody(r.Body, r.ContentLength)
		if err == nil {
			var text string
			if text, err = parseMessage(body); err == nil {
				pause(sleep)
				w.Header().Set("Content-Type", contentType)
				w.Header().Set("Content-Length", strconv.Itoa(sizeOfMessage(text)))
				_, _ = w.Write(appendMessage(make([]byte, 0, sizeOfMessage(text)), text))
				return
			}
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
	})
	return http.Serve(listener, mux)
}

func readBody(body io.Reader, length int64) ([]byte, error) {
	if length < 0 || length > messageMax {
		return nil, fmt.Errorf("a body of %d bytes", length)
	}
	all := make([]byte, length)
	_, err := io.ReadFull(body, all)
	return all, err
}

type twirpClient struct {
	http http.Client
	url  string
}

func connectTwirp(address string, inFlight int) (client, error) {
	transport := &http.Transport{
		MaxIdleConns:        inFlight,
		MaxIdleConnsPerHost: inFlight,
		DisableCompression:  true,
	}
	return &twirpClient{http.Client{Transport: transport}, "http://" + address + twirpPath}, nil
}

func (c *twirpClient) echo(text string) (string, error) {
	body := appendMessage(make([]byte, 0, sizeOfMessage(text)), text)
	response, err := c.http.Post(c.url, contentType, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %s", response.Status)
	}
	reply, err := readBody(response.Body, response.ContentLength)
	if err != nil {
		return "", err
	}
	// Read to the end, so that the connection can be reused.
	_, _ = io.Copy(io.Discard, response.Body)
	return parseMessage(reply)
}

func (c *twirpClient) close() { c.http.CloseIdleConnections() }
