import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { type FoundRequest, readRequest } from './reading.js';

/** What the API shows of earlier requests. */
export class Requests {
  constructor(
    private readonly reader: Reader,
    private readonly clock: Clock,
  ) {}

  /** Throws not_found. */
  read(caller: Caller, id: Uuid): Promise<FoundRequest> {
    return readRequest(this.reader, caller, id, this.clock());
  }
}
