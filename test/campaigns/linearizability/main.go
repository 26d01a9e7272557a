// Judges files of histories: `linearizability FILE...` prints a line of JSON for each group of each file, and ends with 1
// unless all are linearizable.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

const timeout = 5 * time.Minute

// The model of one group, and the names of its history: each key has a slot, and so has the transfer that it creates.
type model struct {
	setup    setup
	slots    int
	slotOf   map[string]int
	slotOfID map[string]int // plus one; zero for no transfer
}

type verdict struct {
	File       string `json:"file"`
	Group      int    `json:"group"`
	Operations int    `json:"operations"`
	Result     string `json:"result"`
	// Of the requests that the longest partial order leaves out, the earliest.
	Left []operation `json:"left,omitempty"`
}

func main() {
	code := 0
	for _, file := range os.Args[1:] {
		histories, err := readHistories(file)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		for group, one := range histories {
			judged := judge(one)
			judged.File, judged.Group = file, group
			if judged.Result != string(porcupine.Ok) {
				code = 1
			}
			line, _ := json.Marshal(judged)
			fmt.Println(string(line))
		}
	}
	os.Exit(code)
}

func judge(one *history) verdict {
	m, operations := prepare(one)
	result, info := porcupine.CheckOperationsVerbose(m.porcupine(), operations, timeout)
	judged := verdict{Operations: len(one.operations), Result: string(result)}
	if result == porcupine.Illegal {
		judged.Left = earliestLeft(operations, info)
	}
	return judged
}

func earliestLeft(operations []porcupine.Operation, info porcupine.LinearizationInfo) []operation {
	var longest []int
	for _, partition := range info.PartialLinearizations() {
		for _, partial := range partition {
			if len(partial) > len(longest) {
				longest = partial
			}
		}
	}
	var left []operation
	for index, one := range operations {
		if !slices.Contains(longest, index) && one.Output != nil {
			left = append(left, one.Input.(*input).operation)
		}
	}
	slices.SortFunc(left, func(a, b operation) int { return int(math.Copysign(1, a.Call-b.Call)) })
	return left[:min(3, len(left))]
}

// prepare names keys and transfers, and adds the expiries, which no client requests.
func prepare(one *history) (*model, []porcupine.Operation) {
	m := &model{setup: one.setup, slotOf: map[string]int{}, slotOfID: map[string]int{}}
	for _, op := range one.operations {
		if _, isKnown := m.slotOf[op.Request.Key]; op.Request.Key != "" && !isKnown {
			m.slotOf[op.Request.Key] = m.slots
			m.slots++
		}
	}
	facts := m.gather(one)
	var operations []porcupine.Operation
	add := func(op operation, from float64, until float64) {
		in := &input{operation: op, of: m.slotOfID[op.Request.Of] - 1, slot: m.slotOf[op.Request.Key]}
		in.expiresAt, in.captureExpiresAt = facts.expiryOf(op.Request.Of)
		var output any
		if op.Response != nil {
			output = op.Response
		}
		operations = append(operations, porcupine.Operation{Input: in, Call: micros(from), Return: micros(until), Output: output})
	}
	for _, op := range one.operations {
		switch {
		case op.Return != nil:
			add(op, op.Call, *op.Return)
		case facts.mayHaveEffect(op):
			add(op, op.Call, facts.latestEffect(op))
		}
	}
	for id, transfer := range facts.transfers {
		if transfer.expiredBy != transfer.endedBy {
			continue
		}
		for kind, at := range map[string]float64{
			"expiry of an approval": transfer.expiresAt - toleranceMs,
			"expiry of a capture":   transfer.captureExpiresAt - toleranceMs,
		} {
			if at <= min(transfer.expiredBy, facts.end) {
				add(operation{Request: request{Kind: kind, Of: id}, Call: at}, at, transfer.expiredBy)
			}
		}
	}
	return m, operations
}

func isRead(kind string) bool { return kind == "read" || kind == "balances" || kind == "find" }

func micros(ms float64) int64 {
	if math.IsInf(ms, 1) {
		return math.MaxInt64
	}
	return int64(ms * 1000)
}
