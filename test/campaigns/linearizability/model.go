package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/anishathalye/porcupine"
)

// The service as docs/contract.md describes it, for one group of accounts: a function from a state and a request to the
// next state and the right response.

const (
	maxAccounts = 4
	// How far the clock that dates money and the clients' clock may differ.
	toleranceMs = 50
)

type transfer struct {
	status        string
	creator       string
	source        int
	destination   int
	raw           int64
	captured      int64
	refunded      int64
	refunding     int64
	received      int
	isManual      bool
	needsApproval bool
	original      int // -1 for none
	rejection     string
	isMade        bool
}

// What a key is bound to: a transfer, or a refusal for ever.
type binding struct {
	content string
	slot    int
	refusal string
}

type state struct {
	available [maxAccounts]int64
	held      [maxAccounts]int64
	// By the slot of the key that creates it.
	transfers []transfer
	bindings  []binding
}

func (s *state) clone() *state {
	copied := *s
	copied.transfers = slices.Clone(s.transfers)
	copied.bindings = slices.Clone(s.bindings)
	return &copied
}

func equal(one, other any) bool {
	a, b := one.(*state), other.(*state)
	return a.available == b.available && a.held == b.held &&
		slices.Equal(a.transfers, b.transfers) && slices.Equal(a.bindings, b.bindings)
}

func hash(one any) uint64 {
	s := one.(*state)
	sum := uint64(0)
	for account := range s.available {
		sum = sum*31 + uint64(s.available[account])
		sum = sum*31 + uint64(s.held[account])
	}
	return sum
}

// The right response, as far as the model knows it.
type result struct {
	status   int
	replayed bool
	// The code and the details of a refusal.
	refusal string
	// The transfer that is shown; -1 for none.
	slot int
}

func refused(status int, code string, details ...any) result {
	return result{status: status, refusal: fmt.Sprint(append([]any{code}, details...)...), slot: -1}
}

func showing(status int, slot int) result { return result{status: status, slot: slot} }

// A request, with names and times that do not depend on the state.
type input struct {
	operation
	slot int // of the key
	of   int // the slot of the transfer that it names; -1 for none
	// When what waits expires, in milliseconds since 1970; +Inf if no response shows it.
	expiresAt, captureExpiresAt float64
}

func (in *input) content() string {
	r := in.Request
	switch r.Kind {
	case "transfer":
		within := 0
		if r.CaptureWithinS != nil {
			within = *r.CaptureWithinS
		}
		return fmt.Sprint("transfer ", r.From, " ", r.To, " ", *r.Raw, " ", within)
	case "approve":
		return fmt.Sprint("approve ", r.Of, " ", in.Actor)
	default:
		raw := "all"
		if r.Raw != nil {
			raw = *r.Raw
		}
		return fmt.Sprint(r.Kind, " ", r.Of, " ", raw)
	}
}

// step decides a request in a state. It returns the next state, which is the same one if nothing changes.
func (m *model) step(s *state, in *input) (*state, result) {
	switch in.Request.Kind {
	case "expiry of an approval", "expiry of a capture":
		return m.expire(s, in)
	case "balances":
		return s, result{status: 200, slot: -1}
	case "read":
		return s, showing(200, in.of)
	case "find":
		if !s.transfers[in.slot].isMade {
			return s, result{status: 200, slot: -1}
		}
		return s, showing(200, in.slot)
	case "reject", "cancel":
		return m.end(s, in)
	}
	content := in.content()
	if known := s.bindings[in.slot]; known.content != "" {
		switch {
		case known.content != content:
			return s, refused(409, "idempotency_key_reused")
		case known.refusal != "":
			return s, result{status: 422, replayed: true, refusal: known.refusal, slot: -1}
		}
		return s, result{status: 200, replayed: true, slot: known.slot}
	}
	next := s.clone()
	decided := m.decide(next, in)
	if decided.status >= 300 && decided.status != 422 {
		return s, decided
	}
	next.bindings[in.slot] = binding{content: content, slot: decided.slot, refusal: decided.refusal}
	return next, decided
}

// decide changes the state unless it refuses.
func (m *model) decide(s *state, in *input) result {
	switch in.Request.Kind {
	case "transfer":
		return m.create(s, in, transfer{source: in.Request.From, destination: in.Request.To, raw: rawOf(in.Request.Raw), original: -1})
	case "refund":
		return m.refund(s, in)
	case "capture":
		return m.capture(s, in)
	default:
		return m.approve(s, in)
	}
}

func (m *model) create(s *state, in *input, made transfer) result {
	if available := s.available[made.source]; available < made.raw {
		return refused(422, "insufficient_funds", available, made.raw)
	}
	made.isMade, made.creator = true, in.Actor
	made.isManual = in.Request.CaptureWithinS != nil
	made.needsApproval = made.source == 0 && made.raw >= m.setup.Threshold
	switch {
	case made.needsApproval:
		made.status = "pending_approval"
	case made.isManual:
		made.status = "held"
	default:
		made.status = "completed"
	}
	s.available[made.source] -= made.raw
	if made.status == "completed" {
		s.available[made.destination] += made.raw
	} else {
		s.held[made.source] += made.raw
	}
	if made.original >= 0 {
		if original := &s.transfers[made.original]; made.needsApproval {
			original.refunding += made.raw
		} else {
			original.refunded += made.raw
		}
	}
	s.transfers[in.slot] = made
	if made.needsApproval {
		return showing(202, in.slot)
	}
	return showing(201, in.slot)
}

func (t *transfer) moved() int64 {
	if t.isManual {
		return t.captured
	}
	return t.raw
}

func (m *model) refund(s *state, in *input) result {
	original := s.transfers[in.of]
	if original.status != "completed" {
		return refused(409, "invalid_state", original.status)
	}
	if original.original >= 0 {
		return refused(422, "not_refundable")
	}
	left := original.moved() - original.refunded - original.refunding
	raw := left
	if in.Request.Raw != nil {
		raw = rawOf(in.Request.Raw)
	}
	if raw > left || left == 0 {
		return refused(422, "refund_exceeds_amount", left)
	}
	return m.create(s, in, transfer{source: original.destination, destination: original.source, raw: raw, original: in.of})
}

func (m *model) capture(s *state, in *input) result {
	one := &s.transfers[in.of]
	if one.status != "held" || in.isLate(in.captureExpiresAt) {
		return refused(409, "invalid_state", one.status)
	}
	raw := one.raw
	if in.Request.Raw != nil {
		raw = rawOf(in.Request.Raw)
	}
	if raw > one.raw {
		return refused(422, "capture_exceeds_amount", one.raw)
	}
	one.captured = raw
	s.available[one.source] += one.raw - raw
	s.complete(one)
	return showing(200, in.of)
}

// complete moves what leaves a hold.
func (s *state) complete(one *transfer) {
	s.held[one.source] -= one.raw
	s.available[one.destination] += one.moved()
	one.status = "completed"
	if one.original >= 0 {
		s.transfers[one.original].refunded += one.raw
		s.transfers[one.original].refunding -= one.raw
	}
}

func (m *model) approve(s *state, in *input) result {
	one := &s.transfers[in.of]
	if one.creator == in.Actor {
		return refused(403, "authority_insufficient")
	}
	if one.status != "pending_approval" || in.isLate(in.expiresAt) {
		return refused(409, "invalid_state", one.status)
	}
	one.received = 1
	if one.isManual {
		one.status = "held"
	} else {
		s.complete(one)
	}
	return showing(200, in.of)
}

// isLate returns whether the request was sent after the expiry. Around the expiry either result is right.
func (in *input) isLate(expiresAt float64) bool { return in.Call > expiresAt+toleranceMs }

func (m *model) end(s *state, in *input) (*state, result) {
	one := s.transfers[in.of]
	code := "canceled"
	isOpen := one.status == "pending_approval" && !in.isLate(in.expiresAt)
	if in.Request.Kind == "reject" {
		code = "rejected"
		if one.creator == in.Actor {
			return s, refused(403, "authority_insufficient")
		}
	} else {
		isOpen = isOpen || one.status == "held" && !in.isLate(in.captureExpiresAt)
	}
	if !isOpen {
		return s, refused(409, "invalid_state", one.status)
	}
	next := s.clone()
	next.release(in.of, "rejected", code)
	return next, showing(200, in.of)
}

func (m *model) expire(s *state, in *input) (*state, result) {
	waits := "pending_approval"
	if in.Request.Kind == "expiry of a capture" {
		waits = "held"
	}
	if s.transfers[in.of].status != waits {
		return s, result{slot: -1}
	}
	next := s.clone()
	next.release(in.of, "expired", "")
	return next, result{slot: -1}
}

func (s *state) release(slot int, status, code string) {
	one := &s.transfers[slot]
	s.held[one.source] -= one.raw
	s.available[one.source] += one.raw
	one.status, one.rejection = status, code
	if one.original >= 0 {
		s.transfers[one.original].refunding -= one.raw
	}
}

func rawOf(text *string) int64 {
	raw, err := strconv.ParseInt(*text, 10, 64)
	if err != nil {
		panic(err)
	}
	return raw
}

// isRight compares a response with the right one. A request without a response may have had any.
func (m *model) isRight(s *state, in *input, right result, given *response) bool {
	if given == nil {
		return true
	}
	if given.Status != right.status || given.Replayed != right.replayed {
		return false
	}
	if given.Code != "" || right.refusal != "" {
		return refusalOf(given) == right.refusal
	}
	switch in.Request.Kind {
	case "balances":
		own := given.Body.Balances[0]
		available, held := s.available[in.Request.Account], s.held[in.Request.Account]
		return own.Available == available && own.Held == held && own.Total == available+held
	case "find":
		if right.slot < 0 {
			return len(given.Body.Items) == 0
		}
		return len(given.Body.Items) == 1 && m.isShown(s, right.slot, &given.Body.Items[0])
	}
	return m.isShown(s, right.slot, &given.Body.shown)
}

func (m *model) isShown(s *state, slot int, given *shown) bool {
	one := s.transfers[slot]
	captured, received, rejection := int64(0), 0, ""
	if given.Captured != nil {
		captured = given.Captured.Raw
	}
	if given.Approval != nil {
		received = given.Approval.Received
	}
	if given.Rejection != nil {
		rejection = given.Rejection.Code
	}
	return one.isMade && m.slotOfID[given.ID] == slot+1 && given.Status == one.status &&
		given.SourceAccount == m.setup.Accounts[one.source] && given.Amount.Raw == one.raw &&
		captured == one.captured && given.Refunded.Raw == one.refunded &&
		(given.Approval != nil) == one.needsApproval && received == one.received && rejection == one.rejection
}

func refusalOf(given *response) string {
	raw := func(name string) any {
		switch value := given.Details[name].(type) {
		case map[string]any:
			return value["raw"]
		default:
			return value
		}
	}
	switch given.Code {
	case "insufficient_funds":
		return fmt.Sprint(given.Code, raw("available"), " ", raw("requested"))
	case "refund_exceeds_amount":
		return fmt.Sprint(given.Code, raw("refundable"))
	case "capture_exceeds_amount":
		return fmt.Sprint(given.Code, raw("capturable"))
	case "invalid_state":
		return fmt.Sprint(given.Code, raw("current"))
	}
	return given.Code
}

func (m *model) porcupine() porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			s := &state{transfers: make([]transfer, m.slots), bindings: make([]binding, m.slots)}
			for account := range m.setup.Accounts {
				s.available[account] = m.setup.Funds
			}
			return s
		},
		Step: func(before, in, out any) (bool, any) {
			next, right := m.step(before.(*state), in.(*input))
			given, _ := out.(*response)
			return m.isRight(next, in.(*input), right, given), next
		},
		Equal: equal,
		Hash:  hash,
	}
}
