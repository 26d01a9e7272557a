import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Uuid } from '../../src/core/ids.js';
import type { Batch } from '../../src/db/entities/batches.js';
import { answered, type Json } from '../helpers/bank.js';
import type { TestApi } from '../helpers/api.js';
import {
  accountNumber,
  DOCUMENT,
  HOLDER,
  openPayoutBank,
  type PayoutBank,
} from '../payouts/support.js';
import { BatchWorld, fileOf, type WantedCell } from './support.js';

export const PAYOUT_HEADER = [
  'country',
  'bank_code',
  'account_type',
  'account_number',
  'holder_name',
  'holder_document',
  'amount',
  'asset',
  'description',
  'reference',
] as const;
type PayoutColumn = (typeof PAYOUT_HEADER)[number];

const SUPPLIER: Readonly<Record<PayoutColumn, string>> = {
  country: 'CO',
  bank_code: '0007',
  account_type: 'savings',
  account_number: accountNumber(),
  holder_name: HOLDER,
  holder_document: DOCUMENT,
  amount: '100000',
  asset: 'COPM',
  description: '',
  reference: '',
};

export type SupplierRow = Readonly<Partial<Record<PayoutColumn, WantedCell>>>;

/** The cells of a row, in the order of `PAYOUT_HEADER`. */
export function supplier(wanted: SupplierRow = {}): readonly WantedCell[] {
  const row = { ...SUPPLIER, ...wanted };
  return PAYOUT_HEADER.map((column) => (row[column] === '' ? null : row[column]));
}

/** A file of the tests' own kind. */
export function suppliers(...rows: readonly SupplierRow[]): Buffer {
  return fileOf([PAYOUT_HEADER, ...rows.map(supplier)]);
}

/** A CSV file as a tenant uploads it. */
export function supplierCsv(...rows: readonly SupplierRow[]): Buffer {
  const lines = rows.map((row) =>
    supplier(row).map((cell) => (typeof cell === 'string' ? cell : '')),
  );
  return Buffer.from([PAYOUT_HEADER, ...lines].map((cells) => `${cells.join(',')}\n`).join(''));
}

/** The payout batches of a bank whose API runs in this process: what a worker does for them. */
export class SupplierBatches {
  private constructor(
    readonly own: PayoutBank,
    readonly world: BatchWorld,
  ) {}

  static async open(api: TestApi, funds?: bigint): Promise<SupplierBatches> {
    const own = await openPayoutBank(api, funds);
    return new SupplierBatches(own, BatchWorld.of(own.bank, 'payout'));
  }

  path(id: string, rest = ''): string {
    return `/v1/payout_batches/${id}${rest}`;
  }

  async get(id: string, rest = ''): Promise<Json> {
    return answered(await this.own.bank.get(this.path(id, rest)), 200).json;
  }

  /** The owner uploads it. */
  async uploaded(file: Buffer): Promise<Uuid> {
    return (await this.world.uploaded(this.own.source, file)).id;
  }

  async validated(file: Buffer): Promise<Batch> {
    return this.world.validate(await this.uploaded(file));
  }

  async ready(...rows: readonly SupplierRow[]): Promise<Batch> {
    const batch = await this.validated(suppliers(...rows));
    assert.equal(batch.status, 'ready', JSON.stringify(await this.world.problems(batch.id)));
    return batch;
  }

  /** A second person executes it. */
  execute(id: string, token: string = this.own.approvers[0]) {
    return this.own.bank.request('POST', this.path(id, '/execute'), { token, key: randomUUID() });
  }

  async executed(...rows: readonly SupplierRow[]): Promise<Batch> {
    const { id } = await this.ready(...rows);
    answered(await this.execute(id), 202);
    return this.world.batch(id);
  }

  /** From the file to the end of the execution. */
  async ended(...rows: readonly SupplierRow[]): Promise<Batch> {
    const { id } = await this.executed(...rows);
    assert.equal(await this.world.pay({ id }), 'over');
    return this.world.batch(id);
  }
}
