package cli

// This file reads the TLS settings from the environment.

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// TLS reads PEER_TLS_CA, the file of the authority to trust, and PEER_TLS_CERT
// and PEER_TLS_KEY, the certificate to present and its key. A server that
// trusts an authority requires client certificates signed by it. The result is
// nil if none of the variables is set.
func TLS() (*tls.Config, error) {
	ca, certificate, key := os.Getenv("PEER_TLS_CA"), os.Getenv("PEER_TLS_CERT"), os.Getenv("PEER_TLS_KEY")
	if ca == "" && certificate == "" {
		return nil, nil
	}
	config := &tls.Config{}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("PEER_TLS_CA: no certificate in " + ca)
		}
		config.RootCAs, config.ClientCAs = pool, pool
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
