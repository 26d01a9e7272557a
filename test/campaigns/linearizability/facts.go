package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// What the responses of a history say, whatever their order.
type facts struct {
	transfers map[string]*transferFacts
	// When the first response showed what the key is bound to.
	boundBy map[string]float64
	// Keys whose result, and transfers whose end, one response shows as its own.
	decided map[string]bool
	// When the last response came.
	end float64
}

type transferFacts struct {
	expiresAt, captureExpiresAt float64
	// When the first response showed that it had ended, or that it had expired; +Inf for none.
	endedBy, expiredBy float64
}

func (m *model) gather(one *history) *facts {
	f := &facts{transfers: map[string]*transferFacts{}, boundBy: map[string]float64{}, decided: map[string]bool{}}
	isNamed := make([]bool, m.slots)
	answered := slices.DeleteFunc(slices.Clone(one.operations), func(op operation) bool { return op.Response == nil })
	slices.SortFunc(answered, func(a, b operation) int { return int(math.Copysign(1, *a.Return-*b.Return)) })
	for _, op := range answered {
		f.end = max(f.end, *op.Return)
		f.note(op)
		shown, slot := shownBy(op), m.slotOf[op.Request.Key]
		if shown != nil && isCreation(op.Request.Kind) && m.slotOfID[shown.ID] == 0 && !isNamed[slot] {
			m.slotOfID[shown.ID], isNamed[slot] = slot+1, true
		}
	}
	return f
}

func isCreation(kind string) bool { return kind == "transfer" || kind == "refund" || kind == "find" }

func shownBy(op operation) *shown {
	switch {
	case op.Response.Body == nil || op.Request.Kind == "balances":
		return nil
	case op.Request.Kind != "find":
		return &op.Response.Body.shown
	case len(op.Response.Body.Items) == 0:
		return nil
	}
	return &op.Response.Body.Items[0]
}

func (f *facts) transfer(id string) *transferFacts {
	if f.transfers[id] == nil {
		never := math.Inf(1)
		f.transfers[id] = &transferFacts{never, never, never, never}
	}
	return f.transfers[id]
}

func (f *facts) note(op operation) {
	status, id := "", op.Request.Of
	if shown := shownBy(op); shown != nil {
		status, id = shown.Status, shown.ID
		one := f.transfer(id)
		if shown.Approval != nil {
			one.expiresAt = millis(shown.Approval.ExpiresAt)
		}
		if shown.CaptureExpiresAt != nil {
			one.captureExpiresAt = millis(*shown.CaptureExpiresAt)
		}
	} else if op.Response.Code == "invalid_state" {
		status, _ = op.Response.Details["current"].(string)
	}
	isBinding := op.Response.Status == 422 || shownBy(op) != nil
	if _, isBound := f.boundBy[op.Request.Key]; !isBound && isBinding {
		f.boundBy[op.Request.Key] = *op.Return
	}
	if isBinding && !op.Response.Replayed && !isRead(op.Request.Kind) {
		f.decided[op.Request.Key] = true
		f.decided[id] = f.decided[id] || status == "rejected"
	}
	switch status {
	case "expired":
		one := f.transfer(id)
		one.expiredBy = min(one.expiredBy, *op.Return)
		one.endedBy = min(one.endedBy, *op.Return)
	case "completed", "rejected":
		one := f.transfer(id)
		one.endedBy = min(one.endedBy, *op.Return)
	}
}

func millis(at time.Time) float64 { return float64(at.UnixMilli()) }

func (f *facts) expiryOf(id string) (float64, float64) {
	if one := f.transfers[id]; one != nil {
		return one.expiresAt, one.captureExpiresAt
	}
	return math.Inf(1), math.Inf(1)
}

// mayHaveEffect returns whether a request without a response may have changed anything. Of several equal requests only the
// first may: its time of effect includes those of the later ones.
func (f *facts) mayHaveEffect(op operation) bool {
	r := op.Request
	if isRead(r.Kind) || r.Key != "" && f.decided[r.Key] || r.Key == "" && f.decided[r.Of] {
		return false
	}
	same := fmt.Sprint(op.Actor, r.Kind, r.Key, r.Of)
	if r.Raw != nil {
		same += *r.Raw
	}
	isFirst := !f.decided[same]
	f.decided[same] = true
	return isFirst
}

// latestEffect returns when a request without a response can have no effect any more, because its key is bound or its
// transfer has ended; +Inf if that never happens.
func (f *facts) latestEffect(op operation) float64 {
	until := math.Inf(1)
	if at, isBound := f.boundBy[op.Request.Key]; op.Request.Key != "" && isBound {
		until = at
	}
	if one := f.transfers[op.Request.Of]; one != nil && op.Request.Kind != "refund" {
		until = min(until, one.endedBy)
	}
	return max(until, op.Call)
}
