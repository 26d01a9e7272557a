import { ConfigError, type OpsConfig } from '../config.js';
import type { Keyring } from '../core/fingerprint.js';
import { Failpoints } from '../core/failpoints.js';
import { type Clock, systemClock } from '../core/instant.js';
import { Database } from '../db/database.js';
import { type DeskObserver, PostingDesk } from '../ledger/desk/desk.js';

/** The parts that a command needs: the same ones as the service's, in a process of its own. */
export interface OpsParts {
  readonly database: Database;
  readonly desk: PostingDesk;
  readonly clock: Clock;
}

/** For the commands that seal: the others do without. Throws ConfigError. */
export function encryptionKeysOf({ ENCRYPTION_KEYS: keys }: OpsConfig): Keyring {
  if (keys === undefined)
    throw new ConfigError('ENCRYPTION_KEYS is not set: the command needs the keys that seal what is secret at rest');
  return keys;
}

/** A command does one thing at a time. */
const READ_CONNECTIONS = 4;
const TRANSACTION_CONNECTIONS = 2;

/** Nobody watches a command's desk: what matters of it is its answer. */
const UNWATCHED: DeskObserver = {
  groupPosted: () => undefined,
  groupRetried: () => undefined,
  commitUnknown: () => undefined,
  shed: () => undefined,
  queued: () => undefined,
};

/** `onFault` hears of a fault of ours while a command was decided, in one line. Connects when it is first asked. */
export function buildOpsParts(config: OpsConfig, onFault: (message: string) => void): OpsParts {
  const database = new Database({
    url: config.MYSQL_URL,
    readConnections: READ_CONNECTIONS,
    transactionConnections: TRANSACTION_CONNECTIONS,
    statementTimeoutMs: config.COMMAND_TIMEOUT_MS,
  });
  const parts = {
    database,
    clock: systemClock,
    failpoints: new Failpoints(config.FAILPOINT ?? null),
    onFault: (kind: string, fault: unknown) => onFault(`${kind}: ${String(fault)}`),
  };
  const options = {
    maxGroup: config.DESK_MAX_GROUP,
    groupsInFlight: config.DESK_GROUPS_IN_FLIGHT,
    maxQueue: config.DESK_MAX_QUEUE,
    commandTimeoutMs: config.COMMAND_TIMEOUT_MS,
  };
  return { database, desk: new PostingDesk(parts, options, UNWATCHED), clock: systemClock };
}
