import { buildLedger, type Ledger } from '../processes/build-ledger.js';
import { ConfigError, type OpsConfig } from '../config/config.js';
import type { Keyring } from '../core/fingerprint.js';
import { NO_OBSERVER } from '../db/metrics.js';
import { DatabaseClock } from '../ledger/database-clock.js';
import type { WriterObserver } from '../ledger/writer/metrics.js';

/** The parts of the service that a command needs, in a separate process. */
export type OpsDeps = Pick<Ledger, 'database' | 'desk' | 'clock' | 'databaseClock'>;

/** Returns the keys for commands that encrypt. Throws ConfigError if they are not configured. */
export function encryptionKeysOf({ ENCRYPTION_KEYS: keys }: OpsConfig): Keyring {
  if (keys === undefined)
    throw new ConfigError(
      'ENCRYPTION_KEYS is not set: the command needs the keys that encrypt secrets at rest',
    );
  return keys;
}

/** A command performs one operation at a time. */
const CONNECTIONS = { MYSQL_READ_CONNECTIONS: 4, MYSQL_TRANSACTION_CONNECTIONS: 2 };

/** The ledger writer of a command is not monitored: only its answer matters. */
const UNWATCHED: WriterObserver = {
  groupPosted: () => undefined,
  groupRetried: () => undefined,
  commitUnknown: () => undefined,
  keyUnknown: () => undefined,
  shed: () => undefined,
  queued: () => undefined,
};

/**
 * Builds the parts. `say` receives a line about faults of the service during a decision, and about
 * accounts dated ahead. Connects on first use.
 */
export function buildOpsParts(config: OpsConfig, say: (line: string) => void): OpsDeps {
  return buildLedger(
    { ...config, ...CONNECTIONS },
    {
      databaseClock: new DatabaseClock(),
      onAccountAhead: (accountId, aheadMs) =>
        say(
          `account ${accountId} is dated ${aheadMs} ms ahead of the database's clock: nothing is posted to it (accounts reset-clock --help)`,
        ),
      observerOf: () => UNWATCHED,
      primaryObserver: {
        found: () => undefined,
        lost: () => undefined,
        refused: (servers) =>
          say(`several MySQL servers accept writes: ${servers.join(', ')}. None of them is used`),
      },
      statementObserver: NO_OBSERVER,
      onRolledBack: () => undefined,
      onFault: (kind, fault) => say(`internal error: ${kind}: ${String(fault)}`),
    },
  );
}
