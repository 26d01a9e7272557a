package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	random "math/rand"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"
)

type object struct {
	ID         string
	Status     string
	AccountID  string `json:"account_id"`
	Rows       int
	Cost       string `json:"total_debit_formatted"`
	Duplicates struct {
		Count    int
		SameFile string `json:"same_file_batch_id"`
	}
	Earlier *struct{ Count int } `json:"earlier_payments"`
	Funding struct {
		Sufficient bool
		Shortfall  string
	}
	CanSend   bool `json:"can_send"`
	Rejection struct{ Code string }
}

func send(method, path, key, contentType, body string) (code int, text, retryAfter string, err error) {
	request, err := http.NewRequest(method, os.Getenv("SVC_URL")+path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
	request.Header.Set("Idempotency-Key", key)
	request.Header.Set("Content-Type", contentType)
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", "", err
	}
	defer response.Body.Close()
	bytes, err := io.ReadAll(response.Body)
	return response.StatusCode, string(bytes), response.Header.Get("Retry-After"), err
}

func call(method, path, key, contentType, body string) (result object, text string) {
	for pause := time.Second; ; pause *= 2 {
		code, text, retryAfter, err := send(method, path, key, contentType, body)
		if err != nil {
			log.Print("no response: ", err)
		} else if code < 300 {
			json.Unmarshal([]byte(text), &result) // A file leaves it empty.
			return result, text
		} else if code < 500 && code != 429 {
			log.Fatal(text)
		}
		// The result is unknown: repeat the same request with the same key.
		if pause > time.Minute {
			pause = time.Minute
		}
		wait, _ := time.ParseDuration(retryAfter + "s")
		if wait < pause {
			wait = pause
		}
		time.Sleep(wait + time.Duration(random.Int63n(int64(wait))))
	}
}

type keys struct{ Upload, Execute string }

// keysOf returns the keys of these bytes, so that every run of the program pays them once. Never delete their file.
func keysOf(content []byte) (own keys) {
	name := fmt.Sprintf("%x.keys.json", sha256.Sum256(content))
	if _, err := os.Stat(name); os.IsNotExist(err) {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		check(err)
		check(json.NewEncoder(file).Encode(keys{newKey(), newKey()}))
		check(errors.Join(file.Sync(), file.Close()))
	}
	text, err := os.ReadFile(name)
	check(err)
	check(json.Unmarshal(text, &own))
	return own
}

func newKey() string {
	id := make([]byte, 16)
	rand.Read(id)
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// after returns the batch when it has left this status.
func after(status, path string) object {
	for end := time.Now().Add(time.Hour); time.Now().Before(end); time.Sleep(time.Second) {
		if batch, _ := call("GET", path, "", "", ""); batch.Status != status {
			return batch
		}
	}
	log.Fatalf("still %s: run the program again later", status)
	return object{}
}

// confirm stops the program if the batch may be a mistake or cannot be paid, or if the person does not agree.
func confirm(batch object) {
	switch {
	case batch.Duplicates.SameFile != "":
		log.Fatalf("batch %s has the same file", batch.Duplicates.SameFile)
	case batch.Earlier == nil || batch.Earlier.Count > 0:
		log.Fatalf("rows were paid before: %+v", batch.Earlier)
	case !batch.Funding.Sufficient:
		log.Fatal("the account lacks ", batch.Funding.Shortfall)
	case !batch.CanSend:
		log.Fatal("the account may not send")
	}
	again := fmt.Sprintf("%d to a person who is already in the file", batch.Duplicates.Count)
	fmt.Printf("Pay %d rows, %s, for %s? (yes) ", batch.Rows, again, batch.Cost)
	var answer string
	if fmt.Scanln(&answer); answer != "yes" {
		log.Fatal("not confirmed: nothing was paid")
	}
}

func main() {
	content, err := os.ReadFile("payroll.csv")
	check(err)
	keys := keysOf(content)
	source, _ := call("GET", "/accounts/lookup?alias=%24acme-treasury", "", "", "")
	var form strings.Builder
	writer := multipart.NewWriter(&form)
	writer.WriteField("source_account", source.AccountID)
	part, _ := writer.CreateFormFile("file", "payroll.csv")
	part.Write(content)
	writer.Close()
	batch, _ := call("POST", "/bonus_batches", keys.Upload, writer.FormDataContentType(), form.String())
	path := "/bonus_batches/" + batch.ID
	batch = after("validating", path)
	if batch.Status == "ready" {
		confirm(batch)
		call("POST", path+"/execute", keys.Execute, "", "")
		batch = after("ready", path)
	}
	if batch.Status == "executing" {
		batch = after("executing", path)
	}
	if batch.Status == "rejected" {
		if batch.Rejection.Code != "" {
			log.Fatal(batch.Rejection.Code)
		}
		_, problems := call("GET", path+"/files/errors", "", "", "")
		log.Fatal(problems)
	}
	fmt.Println(batch.ID, batch.Status)
	_, result := call("GET", path+"/files/result", "", "", "")
	fmt.Println(result)
}
