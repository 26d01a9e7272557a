import { Balances } from '../../src/accounts/balances.js';
import { AliasLookup } from '../../src/accounts/recipients.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Caller, SCOPES } from '../../src/core/permissions.js';
import { Deadline } from '../../src/core/timers.js';
import type { Reader } from '../../src/db/database.js';
import { openBare } from '../baseline/driver.js';
import { replayReads } from '../baseline/reads.js';
import { recordingReader } from '../baseline/recording.js';
import { type Bench, SMALL_LEDGER } from '../bench.js';
import { FIRST_ACCOUNT } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { aliasOf } from '../ledgers/party-rows.js';
import { latencyText, perSecond } from '../report/text.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import { randomParties } from './transfers.js';

const CLIENTS = 64;

/** A GET about one account. To measure another read, add it to READS. */
interface Read {
  readonly name: string;
  readonly title: string;
  readonly path: (account: QueriedAccount) => string;
  /** The service's own function, whose statements are the baseline. */
  readonly read: (reader: Reader, caller: Caller, account: QueriedAccount) => Promise<unknown>;
}

interface QueriedAccount {
  readonly accountId: Uuid;
  readonly alias: string;
}

const READS: readonly Read[] = [
  {
    name: 'balances',
    title: 'Balances, 64 clients',
    path: ({ accountId }) => `/v1/accounts/${accountId}/balances`,
    read: (reader, caller, { accountId }) => new Balances(reader).read(caller, accountId),
  },
  {
    name: 'lookup',
    title: 'Lookup by alias, 64 clients',
    path: ({ alias }) => `/v1/accounts/lookup?alias=${encodeURIComponent(alias)}`,
    read: (reader, { tenantId }, { alias }) => new AliasLookup(reader).find(tenantId, alias),
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
  const queried = sources.map((accountId) => ({
    accountId,
    alias: aliasOf(ledger.accountIds.indexOf(accountId) + FIRST_ACCOUNT),
  }));
  const list = queried.map((account) => ({ path: path(account) }));
  const { load, details } = await bench.withApi(ledger, (api) =>
    bench.run(api, ledger, {
      connections: CLIENTS,
      expectedStatus: 200,
      requests: { kind: 'listed', list, order: 'random' },
    }),
  );
  const statements = await record(ledger, queried, read);
  const bare = await replayReads(
    ledger.url,
    statements,
    bench.readConnections,
    bench.options.seconds,
  );
  return {
    figures: `${perSecond(load.perSecond)}, ${latencyText(load.latency)}`,
    baseline: `the same SELECTs, one account each, by the bare driver over ${bench.readConnections} connections: ${perSecond(bare.perSecond)}`,
    ratio: load.perSecond / bare.perSecond,
    targets: [
      atLeast('per second', load.perSecond, 12_000),
      atMost('p99 ms', load.latency.p99Ms, 15),
    ],
    details: { ...details, bare },
  };
}

async function record(
  ledger: Ledger,
  queried: readonly QueriedAccount[],
  read: Read['read'],
): Promise<readonly string[]> {
  const statements: string[] = [];
  const connection = await openBare(ledger.url, 'reads');
  try {
    const reader = recordingReader(connection, statements);
    for (const account of queried) await read(reader, callerOf(ledger), account);
  } finally {
    await connection.end();
  }
  return statements;
}

/** Returns the caller that the ledger's token identifies. */
export function callerOf({ tenantId, memberId }: Ledger): Caller {
  const deadline = Deadline.afterMs(600_000);
  return { tenantId, memberId, tokenKeyId: 'bench', scopes: SCOPES, deadline };
}
