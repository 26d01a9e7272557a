import { buildLedger, type Ledger } from '../processes/build-ledger.js';
import { ConfigError, type OpsConfig } from '../config/config.js';
import type { Keyring } from '../core/fingerprint.js';
import { NO_OBSERVER } from '../db/metrics.js';
import { DatabaseClock } from '../ledger/database-clock.js';
import type { WriterObserver } from '../ledger/writer/metrics.js';
import { RailBreakers } from '../payouts/breaker.js';
import { RailCalls } from '../payouts/rail-calls.js';
import { openRails } from '../payouts/rails/registry.js';
import type { Output } from './output.js';

export type OpsDeps = Pick<Ledger, 'database' | 'writer' | 'clock' | 'databaseClock'>;

/** Returns the keys for commands that encrypt. Throws ConfigError if they are not configured. */
export function encryptionKeysOf({ ENCRYPTION_KEYS: keys }: OpsConfig): Keyring {
  if (keys === undefined)
    throw new ConfigError(
      'ENCRYPTION_KEYS is not set: the command needs the keys that encrypt secrets at rest',
    );
  return keys;
}

const CONNECTIONS = { MYSQL_READ_CONNECTIONS: 4, MYSQL_TRANSACTION_CONNECTIONS: 2 };

const UNWATCHED: WriterObserver = {
  groupPosted: () => undefined,
  groupRetried: () => undefined,
  commitUnknown: () => undefined,
  fingerprintKeyUnknown: () => undefined,
  shed: () => undefined,
  queued: () => undefined,
};

/** Builds the parts, which connect on first use. `say` receives lines about faults. */
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

/** Returns the rails that are configured here, except those left out. */
export function railCallsOf(
  { database, writer, clock, config, output }: OpsDeps & { config: OpsConfig; output: Output },
  leftOut: ReadonlySet<string> = new Set(),
): RailCalls {
  const rails = new Map(openRails({ database, clock }, config));
  for (const name of leftOut) rails.delete(name);
  const observer = {
    called: () => undefined,
    contradicted: () => undefined,
    ended: () => undefined,
    unresponsive: (_: string, message: string) => output.say(message),
  };
  const breakers = new RailBreakers(database, clock);
  return new RailCalls({ database, writer, clock, rails, observer, breakers });
}
