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

func call(method, path, key, body string) (result object, text string) {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
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
	json.Unmarshal(bytes, &result) // A file leaves it empty.
	return result, string(bytes)
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func main() {
	account, _ := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "")
	period := fmt.Sprintf(`{
		"account_id": %q,
		"asset": "COPM",
		"from": "2026-11-01T05:00:00.000Z",
		"to": %q
	}`, account.AccountID, time.Now().UTC().Add(-60*time.Second).Format(time.RFC3339))
	// A statement moves nothing: an interrupted run may make another, so the key is not stored.
	key := newKey()
	statement, _ := call("POST", "/statements", key, period)
	path := "/statements/" + statement.ID
	for seconds := 0; statement.Status != "ready" && seconds < 600; seconds++ {
		time.Sleep(time.Second)
		statement, _ = call("GET", path, "", "")
	}
	_, file := call("GET", path+"/file?format=csv", "", "")
	fmt.Println(statement.ID, statement.Status)
	fmt.Println(file)
}
