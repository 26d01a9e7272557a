package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"
)

type object struct {
	ID        string
	Status    string
	AccountID string `json:"account_id"`
	Cost      string `json:"total_debit_formatted"`
	Rejection struct{ Code string }
}

func call(method, path, key, contentType, body string) (result object, text string) {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", contentType)
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		log.Fatal(response.Status, string(bytes), err)
	}
	json.Unmarshal(bytes, &result) // A file leaves it empty.
	return result, string(bytes)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// keyOf returns the key of these bytes: every run of the program uploads the same batch. Never delete its file.
func keyOf(content []byte) string {
	name := fmt.Sprintf("%x.key", sha256.Sum256(content))
	if _, err := os.Stat(name); os.IsNotExist(err) {
		id := make([]byte, 16)
		rand.Read(id)
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		check(err)
		_, err = fmt.Fprintf(file, "%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		check(errors.Join(err, file.Sync(), file.Close()))
	}
	key, err := os.ReadFile(name)
	check(err)
	return string(key)
}

func main() {
	content, err := os.ReadFile("suppliers.csv")
	check(err)
	source, _ := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "", "")
	var form strings.Builder
	writer := multipart.NewWriter(&form)
	writer.WriteField("source_account", source.AccountID)
	part, _ := writer.CreateFormFile("file", "suppliers.csv")
	part.Write(content)
	writer.Close()
	batch, _ := call("POST", "/payout_batches", keyOf(content), writer.FormDataContentType(), form.String())
	path := "/payout_batches/" + batch.ID
	for seconds := 0; batch.Status == "validating" && seconds < 3600; seconds++ {
		time.Sleep(time.Second)
		batch, _ = call("GET", path, "", "", "")
	}
	if batch.Status == "rejected" {
		if batch.Rejection.Code != "" {
			log.Fatal(batch.Rejection.Code)
		}
		_, problems := call("GET", path+"/files/errors", "", "", "")
		log.Fatal(problems)
	}
	fmt.Println(batch.ID, batch.Status, batch.Cost)
}
