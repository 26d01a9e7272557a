import type { Bench, Service } from '../bench.js';
import { UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { latencyText, megabytes, ms, perSecond, seconds } from '../report/text.js';
import { RowFailed } from '../row-failed.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import type { ApiProcess } from '../service/api-process.js';
import { Client } from '../service/client.js';
import { measureDownloads } from './concurrent-downloads.js';
import {
  downloadResult,
  payrollFile,
  payrollLedger,
  readBatch,
  readByExcelJs,
  sendersOf,
  untilSettled,
  PAYOUT_BATCHES,
  suppliersFile,
  untilStatus,
  uploadPayroll,
} from './payroll.js';
import { randomParties, runTransfers } from './transfers.js';

const ROWS = 100_000;
const QUICK_ROWS = 2_000;
/** Enough that payment lasts as long as the short load. */
const QUICK_ROWS_BESIDE = 20_000;
const READY_WITHIN_S = 180;
const PAID_WITHIN_S = 600;
const MAX_MB = 512;
const CLIENTS = 64;
const DOWNLOADERS = 200;
/** Suppliers are not accounts. */
const SUPPLIER_ACCOUNTS = 1_000;

const PER_SECOND = 200;
const CONNECTIONS = 32;
const KEPT_SHARE = 0.98;
const MIN_PAID_SHARE = 0.9;

const batch: Row = {
  name: 'batch',
  title: `A batch of ${ROWS.toLocaleString('en')} rows with five metadata columns (XLSX): validate, execute, download the result`,
  run: measureBatch,
};

const beside: Row = {
  name: 'transfers-beside-batch',
  title: `Transfers at a steady ${PER_SECOND}/s from another source while such a batch is paid`,
  run: measureBeside,
};

const payouts: Row = {
  name: 'payout-batch',
  title: `A batch of ${ROWS.toLocaleString('en')} payouts (XLSX): validate, execute`,
  run: measurePayouts,
};

export const batchRows: readonly Row[] = [batch, payouts, beside];

async function measureBatch(bench: Bench): Promise<Measured> {
  const { isQuick } = bench.options;
  const rows = isQuick ? QUICK_ROWS : ROWS;
  const ledger = await bench.newLedger(payrollLedger(isQuick ? 'batch_quick' : 'batch', rows));
  const file = await payrollFile(ledger, rows);
  const paid = await bench.withService(ledger, (service) =>
    payOne(bench, ledger, service, file, rows),
  );
  const readS = await readByExcelJs(file);
  const { load } = await runTransfers(bench, ledger, randomParties(ledger), CLIENTS);
  const { readyS, executedS, filesS, csv, xlsx, downloads, apiMb, workerMb } = paid;
  const memory = [apiMb, workerMb].map(megabytes).join(' and ');
  return {
    figures:
      `${rows.toLocaleString('en')} rows, ${(file.length / 1e6).toFixed(1)} MB: ready after ${seconds(readyS)}, paid after ${seconds(executedS)} ` +
      `(${perSecond(rows / executedS)}), files ${seconds(filesS)} later, result ${seconds(csv.seconds)} (XLSX ${seconds(xlsx.seconds)}), ${DOWNLOADERS} at once ${seconds(downloads.seconds)} with ` +
      `${ms(downloads.during.p99Ms)} p99 for another tenant's reads (${ms(downloads.before.p99Ms)} before); most memory of API and worker ${memory}`,
    baseline: `exceljs only reads the file in ${seconds(readS)}; instant transfers by ${CLIENTS} clients ${perSecond(load.perSecond)}`,
    ratio: rows / executedS / load.perSecond,
    targets: [
      atMost('s to ready', readyS, 8),
      atMost('s to the last row', executedS, 18),
      atMost('s to the files', filesS, 10),
      atMost('s to download', csv.seconds, 1),
      atMost('s to download as XLSX', xlsx.seconds, 1),
      atMost('ms p99 beside downloads', downloads.during.p99Ms, 2 * downloads.before.p99Ms),
      atMost('MB, API', apiMb ?? 0, MAX_MB),
      atMost('MB, worker', workerMb ?? 0, MAX_MB),
    ],
    details: { rows, fileBytes: file.length, ...paid, exceljsReadS: readS, transfers: load },
  };
}

async function measurePayouts(bench: Bench): Promise<Measured> {
  const rows = bench.options.isQuick ? QUICK_ROWS : ROWS;
  const ledger = await bench.newLedger(payrollLedger('payout_batch', SUPPLIER_ACCOUNTS));
  const file = await suppliersFile(rows);
  const made = await bench.withService(ledger, async ({ api, worker }) => {
    const client = new Client(api, ledger);
    const { payroll: source } = sendersOf(ledger);
    const second = await secondPerson(client, source, api);
    const began = performance.now();
    const id = await uploadPayroll(client, source, file, PAYOUT_BATCHES);
    await untilStatus(client, id, 'ready', READY_WITHIN_S, PAYOUT_BATCHES);
    const readyS = (performance.now() - began) / 1000;
    const executed = performance.now();
    await second.post(`${PAYOUT_BATCHES}/${id}/execute`, 202);
    await untilSettled(client, id, PAID_WITHIN_S, PAYOUT_BATCHES);
    const createdS = (performance.now() - executed) / 1000;
    return { readyS, createdS, apiMb: api.peakMb(), workerMb: worker.peakMb() };
  });
  const readS = await readByExcelJs(file);
  const { readyS, createdS, apiMb, workerMb } = made;
  const memory = [apiMb, workerMb].map(megabytes).join(' and ');
  return {
    figures:
      `${rows.toLocaleString('en')} rows, ${(file.length / 1e6).toFixed(1)} MB: ready after ${seconds(readyS)}, every payout created after ${seconds(createdS)} ` +
      `(${perSecond(rows / createdS)}), while the first ones go to their rail; most memory of API and worker ${memory}`,
    baseline: `exceljs only reads the file in ${seconds(readS)}`,
    ratio: readS / readyS,
    targets: [
      atMost('s to ready', readyS, 8),
      atMost('s to the last payout', createdS, 30),
      atMost('MB, API', apiMb ?? 0, MAX_MB),
      atMost('MB, worker', workerMb ?? 0, MAX_MB),
    ],
    details: { rows, fileBytes: file.length, ...made },
  };
}

/** Returns a client of a new member who may execute batches of the account. */
async function secondPerson(
  client: Client,
  account: string,
  api: Pick<ApiProcess, 'port'>,
): Promise<Client> {
  const made = async (path: string, body: object, field: string): Promise<string> => {
    const answer = (await (await client.post(path, 201, body)).json()) as Record<string, unknown>;
    return String(answer[field]);
  };
  const member = await made('/v1/members', { name: 'second person' }, 'id');
  await client.put(`/v1/accounts/${account}/roles/${member}`, { role: 'approver' });
  const body = { member_id: member, scopes: ['payouts'], name: 'second person' };
  return new Client(api, { token: await made('/v1/tokens', body, 'token') });
}

/** Pays one batch. Memory is each process's peak, from its start to the end of the downloads. */
async function payOne(
  bench: Bench,
  ledger: Ledger,
  { api, worker }: Service,
  file: Buffer,
  rows: number,
) {
  const client = new Client(api, ledger);
  const began = performance.now();
  const id = await uploadPayroll(client, sendersOf(ledger).payroll, file);
  const uploadedS = (performance.now() - began) / 1000;
  const ready = await untilStatus(client, id, 'ready', READY_WITHIN_S);
  const readyS = (performance.now() - began) / 1000;
  if (ready.rows !== rows) throw new RowFailed(`${ready.rows} rows were read, of ${rows}`);
  const executed = performance.now();
  await client.post(`/v1/bonus_batches/${id}/execute`, 202);
  await untilSettled(client, id, PAID_WITHIN_S);
  const executedS = (performance.now() - executed) / 1000;
  await untilStatus(client, id, 'completed', PAID_WITHIN_S);
  const filesS = (performance.now() - executed) / 1000 - executedS;
  const csv = await downloadResult(client, id, 'csv');
  const xlsx = await downloadResult(client, id, 'xlsx');
  const downloads = await measureDownloads(
    bench,
    api,
    ledger,
    () => downloadResult(client, id, 'csv'),
    DOWNLOADERS,
  );
  return {
    uploadedS,
    readyS,
    executedS,
    filesS,
    csv,
    xlsx,
    downloads,
    apiMb: api.peakMb(),
    workerMb: worker.peakMb(),
  };
}

async function measureBeside(bench: Bench): Promise<Measured> {
  const { isQuick } = bench.options;
  const rows = isQuick ? QUICK_ROWS_BESIDE : ROWS;
  const ledger = await bench.newLedger(payrollLedger(isQuick ? 'beside_quick' : 'batch', rows));
  const file = await payrollFile(ledger, rows);
  const { quiet, loaded, paidShare, paid } = await bench.withService(ledger, (service) =>
    loadBeside(bench, ledger, service, file),
  );
  const { latency } = loaded.load;
  return {
    figures: `${latencyText(latency)}, ${perSecond(loaded.load.perSecond)}; ${paid.toLocaleString('en')} rows of ${rows.toLocaleString('en')} paid meanwhile, which was ${(paidShare * 100).toFixed(0)} % of the time`,
    baseline: `the same transfers while nothing is paid: ${latencyText(quiet.load.latency)}`,
    ratio: quiet.load.latency.p99Ms / latency.p99Ms,
    targets: [
      atLeast('answered per second', loaded.load.perSecond, PER_SECOND * KEPT_SHARE),
      atMost('p99 ms', latency.p99Ms, 80),
      // Otherwise part of the load ran without the batch.
      atLeast('% of the time with the batch being paid', paidShare * 100, MIN_PAID_SHARE * 100),
    ],
    details: { ...loaded.details, quiet: quiet.details, paidShare, paidMeanwhile: paid },
  };
}

async function loadBeside(bench: Bench, ledger: Ledger, { api }: Service, file: Buffer) {
  const client = new Client(api, ledger);
  const { payroll, other, recipients } = sendersOf(ledger);
  const load = () =>
    bench.run(api, ledger, {
      connections: CONNECTIONS,
      perSecond: PER_SECOND,
      expectedStatus: 201,
      requests: {
        kind: 'transfers',
        sources: [other],
        destinations: recipients,
        raw: UNIT_RAW.toString(),
        asset: 'COPM',
      },
    });
  const id = await uploadPayroll(client, payroll, file);
  await untilStatus(client, id, 'ready', READY_WITHIN_S);
  const quiet = await load();
  await client.post(`/v1/bonus_batches/${id}/execute`, 202);
  const began = performance.now();
  // Started together with the load, so that the promise of a failing batch is always awaited.
  const [completedAt, { run, endedAt, paid }] = await Promise.all([
    untilStatus(client, id, 'completed', PAID_WITHIN_S).then(() => performance.now()),
    load().then(async (loaded) => ({
      run: loaded,
      endedAt: performance.now(),
      paid: await paidRows(client, id),
    })),
  ]);
  const paidShare = (Math.min(completedAt, endedAt) - began) / (endedAt - began);
  return { quiet, loaded: run, paidShare, paid };
}

async function paidRows(client: Client, id: string): Promise<number> {
  return (await readBatch(client, id)).progress?.paid ?? 0;
}
