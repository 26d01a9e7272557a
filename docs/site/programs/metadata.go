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
	AccountID string `json:"account_id"`
	Metadata  map[string]string
	Items     []object
}

func call(method, path, key, body string) object {
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
	var result object
	json.Unmarshal(bytes, &result)
	return result
}

// keyOf returns the order's key, stored before the first request. In your program, the order's row takes the place of the file.
func keyOf(name string) string {
	if _, err := os.Stat(name); os.IsNotExist(err) {
		id := make([]byte, 16)
		rand.Read(id)
		file, err := os.Create(name)
		if err != nil {
			log.Fatal(err)
		}
		_, err = fmt.Fprintf(file, "%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
			log.Fatal(err)
		}
	}
	key, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	return string(key)
}

func main() {
	source := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "")
	recipient := call("GET", "/accounts/lookup?alias=%24bruno", "", "")
	order := fmt.Sprintf(`{
		"source_account": %q,
		"destination": {"type": "account", "account_id": %q},
		"amount": {"raw": "150000", "asset": "COPM"},
		"metadata": {"invoice": "A-17", "store": "bogota"}
	}`, source.AccountID, recipient.AccountID)
	key := keyOf("invoice-A-17.key")
	transfer := call("POST", "/transfers", key, order)
	change := `{"metadata": {"store": null, "paid": "yes"}}`
	call("PATCH", "/transfers/"+transfer.ID, "", change)
	found := call("GET", "/transfers?metadata%5Binvoice%5D=A-17", "", "")
	for _, one := range found.Items {
		fmt.Println(one.ID, one.Metadata)
	}
}
