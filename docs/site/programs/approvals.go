package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
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

// keysOf returns the order's keys, stored before the first request. In your program, the order's row takes the place of the file.
func keysOf(name string) (keys struct{ Create, Approve string }) {
	if stored, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(stored, &keys); err != nil {
			log.Fatal(err)
		}
		return keys
	}
	keys.Create, keys.Approve = newKey(), newKey()
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(json.NewEncoder(file).Encode(keys), file.Sync(), file.Close()); err != nil {
		log.Fatal(err)
	}
	return keys
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
	keys := keysOf("order-1043.json")
	transfer := call("POST", "/transfers", keys.Create, token, order)
	fmt.Println(transfer.ID, transfer.Status)

	// The other member's program.
	path := "/transfers/" + transfer.ID + "/approve"
	approved := call("POST", path, keys.Approve, os.Getenv("APPROVER_TOKEN"), "")
	fmt.Println(approved.ID, approved.Status)
}
