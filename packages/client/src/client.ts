import { type Followed, follow, type FollowOptions, head } from './follow.js';
import { Operations } from './generated/operations.js';

/**
 * The client: a method for each operation of the API, by its name. A call goes on, with one idempotency key, until its result is
 * known. Amounts are bigint.
 */
export class MoneyClient extends Operations {
  /** The log of events in order, from a position on, and whatever comes: `for await (const { event, position } of …)`. */
  followEvents(options: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
    return follow((query, calling) => this.listEvents(query, calling), options);
  }

  /** Where the log ends now, as a position to follow it from: only what comes later. */
  headOfEvents(): Promise<string> {
    return head((query, calling) => this.listEvents(query, calling));
  }
}
