import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import ExcelJS from 'exceljs';
import type { Ledger } from '../ledgers/ledger.js';
import { UNIT_RAW } from '../ledgers/history.js';
import { FIRST_ACCOUNT } from '../ledgers/history.js';
import { aliasOf } from '../ledgers/party-rows.js';
import type { LedgerShape } from '../ledgers/shape.js';
import { RowFailed } from '../row-failed.js';
import type { Client } from '../service/client.js';

/** A payroll: its file, and a batch's path through the API. */

/** Accounts that send. Every further account is paid once. */
const SENDERS = 2;
const FUNDINGS = 2;
const TRANSFERS = 1_000;
const METADATA_KEYS = ['cost_center', 'employee', 'invoice', 'month', 'project'];
const HEADER = [
  ...['recipient', 'amount', 'asset', 'description', 'reference'],
  ...METADATA_KEYS.map((key) => `metadata.${key}`),
];
/** Not more often, because each response counts the payouts that there are. */
const POLL_MS = 500;

/** A ledger in which a payroll of this many rows pays a different person in each. */
export function payrollLedger(name: string, rows: number): LedgerShape {
  const accounts = rows + SENDERS;
  return { name, accounts, operations: accounts * FUNDINGS + TRANSFERS, hasBusyAccount: false };
}

/** Returns the account that pays the batch, and the account that sends transfers meanwhile. */
export function sendersOf({ accountIds }: Ledger): {
  payroll: string;
  other: string;
  recipients: readonly string[];
} {
  const [payroll = '', other = '', ...recipients] = accountIds;
  return { payroll, other, recipients };
}

/**
 * As saved by a spreadsheet program, with shared strings. A third of the recipients each by alias, phone and account
 * id.
 */
export function payrollFile(ledger: Ledger, rows: number): Promise<Buffer> {
  return fileOf(HEADER, rows, (row) => {
    const number = (row + 1).toString().padStart(6, '0');
    return [
      ...[recipient(ledger, row), UNIT_RAW.toString(), 'COPM', 'Bono de noviembre'],
      ...[`NOV-${number}`, `CC-${row % 100}`, number, `A-${number}`, '2026-11', 'Nómina'],
    ];
  });
}

const BANK_ACCOUNT = ['country', 'bank_code', 'account_type', 'account_number'];
const HOLDER = ['holder_name', 'holder_document'];

/** A different bank account in each row. */
export function suppliersFile(rows: number): Promise<Buffer> {
  return fileOf([...BANK_ACCOUNT, ...HOLDER, ...HEADER.slice(1, 5)], rows, (row) => {
    const number = row.toString().padStart(6, '0');
    const account = ['CO', '0007', 'savings', `4567${number}99`];
    const holder = [`Proveedor ${number}`, `900${number}-1`];
    return [...account, ...holder, UNIT_RAW.toString(), 'COPM', 'Factura', `INV-${number}`];
  });
}

async function fileOf(
  header: readonly string[],
  rows: number,
  cellsOf: (row: number) => readonly string[],
): Promise<Buffer> {
  const out = new PassThrough();
  const written = buffer(out);
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: out,
    useSharedStrings: true,
    useStyles: false,
  });
  const sheet = workbook.addWorksheet('Nómina');
  sheet.addRow([...header]).commit();
  for (let row = 0; row < rows; row += 1) sheet.addRow([...cellsOf(row)]).commit();
  sheet.commit();
  await workbook.commit();
  return written;
}

function recipient({ accountIds }: Ledger, row: number): string {
  const number = FIRST_ACCOUNT + SENDERS + row;
  switch (row % 3) {
    case 0:
      return aliasOf(number);
    case 1:
      return `+57310${number.toString().padStart(7, '0')}`;
    default:
      return accountIds[SENDERS + row] ?? '';
  }
}

/** Returns the seconds in which exceljs, which checks nothing, reads the file. */
export async function readByExcelJs(file: Buffer): Promise<number> {
  const began = performance.now();
  const source = new PassThrough();
  source.end(file);
  const reader = new ExcelJS.stream.xlsx.WorkbookReader(source, {
    sharedStrings: 'cache',
    worksheets: 'emit',
  });
  let rows = 0;
  for await (const sheet of reader)
    for await (const row of sheet) rows += row.cellCount > 0 ? 1 : 0;
  if (rows === 0) throw new Error('exceljs read nothing');
  return (performance.now() - began) / 1000;
}

export const BONUS_BATCHES = '/v1/bonus_batches';
export const PAYOUT_BATCHES = '/v1/payout_batches';

interface ShownBatch {
  readonly id: string;
  readonly status: string;
  readonly rows: number;
  readonly rows_rejected: number;
  readonly progress: {
    /** Of bonuses; batches of payouts count `created` in its place. */
    readonly paid?: number;
    readonly failed: number;
    readonly pending: number;
  } | null;
}

/** Uploads the file. Returns the batch's id. */
export async function uploadPayroll(
  client: Client,
  sourceAccount: string,
  file: Buffer,
  path = BONUS_BATCHES,
): Promise<string> {
  const form = new FormData();
  form.set('source_account', sourceAccount);
  form.set('description', 'Bonos de noviembre');
  form.set('file', new Blob([new Uint8Array(file)]), 'nomina.xlsx');
  return (await bodyOf(await client.post(path, 201, form))).id;
}

export async function readBatch(
  client: Client,
  id: string,
  path = BONUS_BATCHES,
): Promise<ShownBatch> {
  return bodyOf(await client.get(`${path}/${id}`));
}

/** Polls like a client. Throws RowFailed if the batch ends differently or takes too long. */
export async function untilStatus(
  client: Client,
  id: string,
  status: string,
  withinS: number,
  path = BONUS_BATCHES,
): Promise<ShownBatch> {
  const passing = ['validating', 'executing'];
  const end = performance.now() + withinS * 1000;
  for (;;) {
    const batch = await readBatch(client, id, path);
    if (batch.status === status) return batch;
    if (!passing.includes(batch.status) || performance.now() > end)
      throw new RowFailed(`the batch is not ${status}: ${JSON.stringify(batch)}`);
    await sleep(POLL_MS);
  }
}

/** Polls until no row is pending. The batch ends later, when its files exist. Throws as `untilStatus` does. */
export async function untilSettled(
  client: Client,
  id: string,
  withinS: number,
  path = BONUS_BATCHES,
): Promise<void> {
  const end = performance.now() + withinS * 1000;
  for (;;) {
    const { progress } = await readBatch(client, id, path);
    if (progress?.pending === 0) return;
    if (performance.now() > end) throw new RowFailed(`rows are open after ${withinS} s`);
    await sleep(POLL_MS);
  }
}

/** Downloads the result and counts its bytes and seconds. */
export function downloadResult(
  client: Client,
  id: string,
  format: 'csv' | 'xlsx',
): ReturnType<Client['download']> {
  return client.download(`/v1/bonus_batches/${id}/files/result?format=${format}`);
}

async function bodyOf(answer: Response): Promise<ShownBatch> {
  // The service sent it, so it has this form.
  return (await answer.json()) as ShownBatch;
}
