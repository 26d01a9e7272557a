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
	ID    string
	Role  string
	Token string
	KeyID string `json:"key_id"`
	Items []object
}

func call(token, method, path, key, body string) object {
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

// keysOf returns the keys, stored before the first request. In your program, a row takes the place of the file.
func keysOf(name string) (keys struct{ Account, Member, Token string }) {
	if stored, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(stored, &keys); err != nil {
			log.Fatal(err)
		}
		return keys
	}
	keys.Account, keys.Member, keys.Token = newKey(), newKey(), newKey()
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
	keys := keysOf("access.json")
	account := call(token, "POST", "/accounts", keys.Account, `{"type": "business", "name": "Acme Cali"}`)
	named := fmt.Sprintf(`{"name": "accountant of %s"}`, account.ID)
	member := call(token, "POST", "/members", keys.Member, named)
	path := "/accounts/" + account.ID + "/roles/" + member.ID
	role := call(token, "PUT", path, "", `{"role": "viewer"}`).Role
	order := fmt.Sprintf(`{"member_id": %q, "scopes": ["read"], "name": "report of the month"}`, member.ID)
	issued := call(token, "POST", "/tokens", keys.Token, order)
	if issued.Token == "" {
		log.Fatal("shown in an earlier response only: revoke it, and create another with a new key")
	}
	seen := call(issued.Token, "GET", "/accounts", "", "")
	fmt.Println(account.ID, role, len(seen.Items))
	call(token, "DELETE", "/tokens/"+issued.KeyID+"?cascade=true", "", "")
	call(token, "DELETE", "/members/"+member.ID, "", "")
	if err := os.Remove("access.json"); err != nil {
		log.Fatal(err)
	}
}
