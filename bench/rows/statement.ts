import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { type Instant, toRfc3339 } from '../../src/core/instant.js';
import * as column from '../../src/db/columns.js';
import { MAX_MOVEMENTS } from '../../src/statements/service.js';
import type { Bench, Service } from '../bench.js';
import type { Ledger } from '../ledgers/ledger.js';
import { megabytes, seconds } from '../report/text.js';
import { RowFailed } from '../row-failed.js';
import { atMost, type Measured, type Row } from '../row.js';
import { Client } from '../service/client.js';
import { busyLedgerOf, withBusyAccount } from './movement-history.js';

/** Slightly less than the limit, because the bounds of a period may have several entries at one moment. */
const SHARE_OF_LONGEST = 0.99;
const READY_WITHIN_S = 600;
const MAX_READY_S = 120;
const MAX_MB = 512;
const POLL_MS = 100;
const READ_AT_ONCE = 1_000;

interface Period {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly from: Instant;
  readonly to: Instant;
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly movements: number | null;
}

export const statementRow: Row = {
  name: 'statement',
  title: `A statement of the longest period, ${MAX_MOVEMENTS.toLocaleString('en')} movements of the account: asked for, made, downloaded`,
  run: measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { ledger, entries } = await busyLedgerOf(bench);
  const period = await lastPeriod(ledger, Math.min(entries / 2, MAX_MOVEMENTS * SHARE_OF_LONGEST));
  const made = await bench.withService(ledger, (service) => makeOne(ledger, service, period));
  const readS = await readBare(ledger, period);
  const { movements, createdS, readyS, csv, xlsx, workerMb, apiMb } = made;
  return {
    figures:
      `${movements.toLocaleString('en')} lines of ${(period.lastSeq - period.firstSeq + 1).toLocaleString('en')} movements: answered in ${seconds(createdS)}, ` +
      `files after ${seconds(readyS)}; CSV ${megabytes(csv.bytes / 1e6)} in ${seconds(csv.seconds)}, XLSX ${megabytes(xlsx.bytes / 1e6)} in ${seconds(xlsx.seconds)}; ` +
      `most memory of API and worker ${megabytes(apiMb)} and ${megabytes(workerMb)}`,
    baseline: `the bare driver reads these entries in ${seconds(readS)}`,
    ratio: readS / readyS,
    targets: [
      atMost('s to ready', readyS, MAX_READY_S),
      atMost('MB, API', apiMb ?? 0, MAX_MB),
      atMost('MB, worker', workerMb ?? 0, MAX_MB),
    ],
    details: { ...made, readS },
  };
}

/** Returns the period of the account's newest `count` entries. */
function lastPeriod(ledger: Ledger, count: number): Promise<Period> {
  return withBusyAccount(ledger, async (lastSeq, at) => {
    const firstSeq = lastSeq - Math.floor(count) + 1;
    return { firstSeq, lastSeq, from: await at(firstSeq), to: await at(lastSeq) };
  });
}

/** Makes and downloads a statement. Memory is each process's peak. */
async function makeOne(ledger: Ledger, { api, worker }: Service, { from, to }: Period) {
  const client = new Client(api, ledger);
  const began = performance.now();
  const asked = await client.post('/v1/statements', 201, {
    account_id: ledger.accountIds[0],
    asset: 'COPM',
    from: toRfc3339(from),
    to: toRfc3339(to),
  });
  const createdS = (performance.now() - began) / 1000;
  const { id } = (await asked.json()) as Shown;
  const { movements } = await untilReady(client, id);
  const readyS = (performance.now() - began) / 1000;
  const csv = await client.download(`/v1/statements/${id}/file?format=csv`);
  const xlsx = await client.download(`/v1/statements/${id}/file?format=xlsx`);
  return {
    movements: movements ?? 0,
    createdS,
    readyS,
    csv,
    xlsx,
    apiMb: api.peakMb(),
    workerMb: worker.peakMb(),
  };
}

async function untilReady(client: Client, id: string): Promise<Shown> {
  const end = performance.now() + READY_WITHIN_S * 1000;
  for (;;) {
    const shown = (await (await client.get(`/v1/statements/${id}`)).json()) as Shown;
    if (shown.status === 'ready') return shown;
    if (performance.now() > end)
      throw new RowFailed(`the statement is not ready: ${JSON.stringify(shown)}`);
    await sleep(POLL_MS);
  }
}

async function readBare(ledger: Ledger, { firstSeq, lastSeq }: Period): Promise<number> {
  const [busy = ledger.memberId] = ledger.accountIds;
  const id = column.uuid.literal(busy);
  const connection = await createConnection({ uri: ledger.adminUrl });
  try {
    const began = performance.now();
    for (let seq = firstSeq; seq <= lastSeq; seq += READ_AT_ONCE)
      await connection.query(
        `SELECT * FROM entries WHERE account_id=${id} AND seq BETWEEN ${seq} AND ${Math.min(seq + READ_AT_ONCE - 1, lastSeq)}`,
      );
    return (performance.now() - began) / 1000;
  } finally {
    await connection.end();
  }
}
