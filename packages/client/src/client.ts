import { type Followed, follow, type FollowOptions, head } from './follow.js';
import { Operations } from './generated/operations.js';

/**
 * The client: a method for each operation of the API, by its name. A call keeps trying, with one
 * idempotency key, until its result is known. Amounts are bigint.
 */
export class MoneyClient extends Operations {
  /**
   * Yields the events of the log in order, from a position on, and then new ones as they arrive:
   * `for await (const { event, position } of …)`.
   */
  followEvents(options: FollowOptions = {}): AsyncGenerator<Followed, void, undefined> {
    return follow((query, calling) => this.listEvents(query, calling), options);
  }

  /** Returns the current end of the log, a position from which to follow only later events. */
  headOfEvents(): Promise<string> {
    return head((query, calling) => this.listEvents(query, calling));
  }
}
