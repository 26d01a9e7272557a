import { Balances } from '../../src/accounts/balances.js';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { type Caller, SCOPES } from '../../src/core/permissions.js';
import type { Reader } from '../../src/db/database.js';
import { openBare } from '../baseline/driver.js';
import { replayReads } from '../baseline/reads.js';
import { recordingReader } from '../baseline/recording.js';
import { type Bench, SMALL_LEDGER } from '../bench.js';
import type { Ledger } from '../ledgers/ledger.js';
import { latencyWords, perSecond } from '../report/words.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import { randomParties } from './transfers.js';

const CLIENTS = 64;

/** A GET about one account: another read of the API is another one of these. */
interface Read {
  readonly name: string;
  readonly title: string;
  readonly path: (accountId: Uuid) => string;
  /** The service's own function, whose statements are the baseline. */
  readonly read: (reader: Reader, caller: Caller, accountId: Uuid) => Promise<unknown>;
}

const READS: readonly Read[] = [
  {
    name: 'balances',
    title: 'Balances, 64 clients',
    path: (accountId) => `/v1/accounts/${accountId}/balances`,
    read: (reader, caller, accountId) => new Balances(reader).read(caller, accountId, systemClock()),
  },
];

export const readRows: readonly Row[] = READS.map((read) => ({
  name: read.name,
  title: read.title,
  run: (bench) => measure(bench, read),
}));

async function measure(bench: Bench, { path, read }: Read): Promise<Measured> {
  const ledger = await bench.ledger(SMALL_LEDGER);
  const { sources } = randomParties(ledger);
  const list = sources.map((accountId) => ({ path: path(accountId) }));
  const { load, details } = await bench.withApi(ledger, (api) =>
    bench.run(api, ledger, {
      connections: CLIENTS,
      expectedStatus: 200,
      requests: { kind: 'listed', list, order: 'random' },
    }),
  );
  const statements = await record(ledger, sources, read);
  const bare = await replayReads(ledger.url, statements, bench.readConnections, bench.options.seconds);
  return {
    figures: `${perSecond(load.perSecond)}, ${latencyWords(load.latency)}`,
    baseline: `the same SELECT by the bare driver over ${bench.readConnections} connections: ${perSecond(bare.perSecond)}`,
    ratio: load.perSecond / bare.perSecond,
    targets: [atLeast('per second', load.perSecond, 5_000), atMost('p99 ms', load.latency.p99Ms, 30)],
    details: { ...details, bare },
  };
}

async function record(ledger: Ledger, accountIds: readonly Uuid[], read: Read['read']): Promise<readonly string[]> {
  const statements: string[] = [];
  const connection = await openBare(ledger.url, 'reads');
  try {
    const reader = recordingReader(connection, statements);
    for (const accountId of accountIds) await read(reader, callerOf(ledger), accountId);
  } finally {
    await connection.end();
  }
  return statements;
}

/** Whom the ledger's token speaks for. */
export function callerOf({ tenantId, memberId }: Ledger): Caller {
  return { tenantId, memberId, tokenKeyId: 'bench', scopes: SCOPES };
}
