package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

type object struct {
	ID        string
	Status    string
	AccountID string `json:"account_id"`
}

func call(method, path, key, token, body string) object {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		log.Fatal(response.Status, string(bytes), err)
	}
	var result object
	json.Unmarshal(bytes, &result)
	return result
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func main() {
	token := os.Getenv("SVC_TOKEN")
	guarded := call("GET", "/accounts/lookup?alias=%24acme-guarded", "", token, "")
	recipient := call("GET", "/accounts/lookup?alias=%24bruno", "", token, "")
	order := fmt.Sprintf(`{
		"source_account": %q,
		"destination": {"type": "account", "account_id": %q},
		"amount": {"raw": "2500000", "asset": "COPM"}
	}`, guarded.AccountID, recipient.AccountID)
	// Store both keys with the order first; repeat each request with the same key.
	create, approve := newKey(), newKey()
	transfer := call("POST", "/transfers", create, token, order)
	fmt.Println(transfer.ID, transfer.Status)

	// The other member's program.
	path := "/transfers/" + transfer.ID + "/approve"
	approved := call("POST", path, approve, os.Getenv("APPROVER_TOKEN"), "")
	fmt.Println(approved.ID, approved.Status)
}
