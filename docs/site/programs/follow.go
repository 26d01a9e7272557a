package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"
)

type handled struct {
	Cursor string
	Events map[string]int64 // Sequences by the ids of events.
}

type eventPage struct {
	Items []struct {
		ID, Type string
		Sequence int64
	}
	Gaps       []struct{ After, Before int64 }
	NextCursor string `json:"next_cursor"`
}

const file = "followed.json"

func readPage(cursor string) (page eventPage) {
	query := url.Values{"order": {"asc"}, "limit": {"100"}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	request, err := http.NewRequest("GET", os.Getenv("SVC_URL")+"/events?"+query.Encode(), nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
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
	if err := json.Unmarshal(bytes, &page); err != nil {
		log.Fatal(err)
	}
	return page
}

func load() handled {
	stored := handled{Events: map[string]int64{}}
	bytes, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return stored
	}
	if err == nil {
		err = json.Unmarshal(bytes, &stored)
	}
	if err != nil {
		log.Fatal(err)
	}
	return stored
}

// Stores effects and cursor together: if the program stops in between, neither is stored.
func save(stored handled) {
	bytes, err := json.Marshal(stored)
	if err == nil {
		err = os.WriteFile(file+".new", bytes, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	stored := load()
	for {
		page := readPage(stored.Cursor)
		for _, gap := range page.Gaps { // A restore has undone the events in a gap.
			for id, sequence := range stored.Events {
				if sequence > gap.After && sequence < gap.Before {
					fmt.Println("undo", sequence, id)
					delete(stored.Events, id)
				}
			}
		}
		for _, event := range page.Items {
			if _, known := stored.Events[event.ID]; known {
				continue // Handled already, for example from a webhook.
			}
			fmt.Println(event.Sequence, event.Type, event.ID)
			stored.Events[event.ID] = event.Sequence
		}
		stored.Cursor = page.NextCursor
		save(stored)
		if len(page.Items) == 0 {
			return
		}
	}
}
