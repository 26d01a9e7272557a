package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"
)

// The lines of a file of histories, as history.ts writes them.

type setup struct {
	Accounts  []string `json:"accounts"`
	Funds     int64    `json:"funds,string"`
	Threshold int64    `json:"threshold,string"`
}

type request struct {
	Kind           string  `json:"kind"`
	Key            string  `json:"key"`
	Of             string  `json:"of"`
	From           int     `json:"from"`
	To             int     `json:"to"`
	Account        int     `json:"account"`
	Raw            *string `json:"raw"`
	CaptureWithinS *int    `json:"captureWithinS"`
}

type amount struct {
	Raw   int64  `json:"raw,string"`
	Asset string `json:"asset"`
}

type shown struct {
	ID            string  `json:"id"`
	Status        string  `json:"status"`
	SourceAccount string  `json:"source_account"`
	Amount        amount  `json:"amount"`
	Captured      *amount `json:"captured"`
	Refunded      amount  `json:"refunded"`
	Approval      *struct {
		Received  int       `json:"received"`
		ExpiresAt time.Time `json:"expires_at"`
	} `json:"approval"`
	CaptureExpiresAt *time.Time `json:"capture_expires_at"`
	Rejection        *struct {
		Code string `json:"code"`
	} `json:"rejection"`
}

type body struct {
	shown
	Balances []struct {
		Asset     string `json:"asset"`
		Available int64  `json:"available,string"`
		Held      int64  `json:"held,string"`
		Total     int64  `json:"total,string"`
	} `json:"balances"`
	Items []shown `json:"items"`
}

type response struct {
	Status   int            `json:"status"`
	Replayed bool           `json:"replayed"`
	Code     string         `json:"code"`
	Details  map[string]any `json:"details"`
	Body     *body          `json:"body"`
}

type operation struct {
	Actor    string    `json:"actor"`
	Request  request   `json:"request"`
	Call     float64   `json:"call"`
	Return   *float64  `json:"return"`
	Response *response `json:"response"`
}

type history struct {
	setup      setup
	operations []operation
}

func readHistories(file string) ([]*history, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	var histories []*history
	reader := bufio.NewScanner(opened)
	reader.Buffer(nil, math.MaxInt32)
	for reader.Scan() {
		var line struct {
			Group     int        `json:"group"`
			Setup     *setup     `json:"setup"`
			Operation *operation `json:"operation"`
		}
		if err := json.Unmarshal(reader.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for line.Group >= len(histories) {
			histories = append(histories, &history{})
		}
		one := histories[line.Group]
		if line.Setup != nil {
			one.setup = *line.Setup
		}
		if line.Operation != nil {
			one.operations = append(one.operations, *line.Operation)
		}
	}
	return histories, reader.Err()
}
