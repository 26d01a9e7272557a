import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type BatchKindName, batches } from '../../src/db/entities/batches.js';
import { supplierCsv } from '../batches/payout-support.js';
import { csvOf, formOf } from '../batches/support.js';
import type { TestApi } from './api.js';
import { answered, type Bank, idLiteral, type Json, LEAST, openBank, text } from './bank.js';
import type { TestDatabase } from './database.js';
import { answeredBy } from './known-answer.js';
import { until } from './temporal.js';

/** Who pays from files, and to whom: all that its program must know. Payouts go to bank accounts. */
export interface PayrollAccounts {
  readonly kind?: BatchKindName;
  /** The token of the second person, who executes batches of payouts. */
  readonly executor?: string | undefined;
  readonly source: Pick<Account, 'id'>;
  readonly people: readonly Pick<Account, 'id'>[];
}

/** The work of this program; waiting is the workflows' business. */
interface Payroll {
  readonly kind: BatchKindName;
  readonly path: string;
  /** The token that executes. */
  readonly executor: string | undefined;
  /** Rows of LEAST each, to the people in turn. */
  file(rows: number): Buffer;
  upload(file: Buffer): Promise<Uuid>;
  /** A batch that the service has validated. */
  ready(rows: number): Promise<Uuid>;
  execute(id: Uuid): Promise<Json>;
  read(id: Uuid): Promise<Json>;
  /** Looks until it has the status. */
  until(id: Uuid, status: string): Promise<Json>;
}

/** With a tenant of its own. */
export interface PayrollBank extends Payroll {
  readonly bank: Bank;
  readonly source: Account;
  readonly people: readonly Account[];
}

const PEOPLE = 3;
/** A killed process and a restored server may take long to come back. */
const READY_MS = 1_200_000;

export async function openPayrollBank(
  api: TestApi,
  funds = 100_000n * LEAST,
  kind: BatchKindName = 'bonus',
): Promise<PayrollBank> {
  const bank = await openBank(api);
  const second = await bank.member('who executes');
  const roles = [{ memberId: second.id, role: 'approver' as const }];
  const source = await bank.account({ funds: { COPM: funds }, type: 'business', roles });
  const people = await Promise.all(
    Array.from({ length: PEOPLE }, () => bank.account({ isVerified: false })),
  );
  const executor = kind === 'payout' ? await bank.issue(second) : bank.token;
  const accounts = { source, people, kind, executor };
  return { bank, source, people, ...payrollOf(bank.request.bind(bank), accounts) };
}

export function payrollOf(
  request: Bank['request'],
  { source, people, kind = 'bonus', executor }: PayrollAccounts,
): Payroll {
  const path = `/v1/${kind}_batches`;
  const read = async (id: Uuid): Promise<Json> =>
    answered(await request('GET', `${path}/${id}`), 200).json;
  const payroll: Payroll = {
    kind,
    path,
    executor,
    read,
    file: (rows) =>
      kind === 'payout'
        ? supplierCsv(
            ...Array.from({ length: rows }, (_, index) => ({
              amount: LEAST.toString(),
              reference: `r${index}`,
            })),
          )
        : csvOf(
            Array.from({ length: rows }, (_, index) => [
              people[index % people.length]!.id,
              ...[LEAST.toString(), 'COPM', null, `r${index}`],
            ]),
          ),
    upload: async (file) => {
      const form = formOf(file, { source_account: source.id });
      return text(answered(await request('POST', path, { form }), 201).json.id) as Uuid;
    },
    ready: async (rows) => {
      const id = await payroll.upload(payroll.file(rows));
      await payroll.until(id, 'ready');
      return id;
    },
    execute: async (id) =>
      answered(
        await request('POST', `${path}/${id}/execute`, {
          key: randomUUID(),
          ...(executor === undefined ? {} : { token: executor }),
        }),
        202,
      ).json,
    until: (id, status) =>
      until(`batch ${id} is ${status}`, async () => {
        const batch = await read(id);
        return batch.status === status && batch;
      }),
  };
  return payroll;
}

/** A database whose pool outlives a killed server. */
type Databased = Pick<TestDatabase, 'database'>;

/** Every row is settled, those that are paid by one bonus or payout. Answers how many are paid. */
export async function assertPaidOnce(
  { database }: Databased,
  id: string,
  rows: number,
  kind: BatchKindName = 'bonus',
): Promise<number> {
  const table = kind === 'bonus' ? 'bonuses' : 'payouts';
  const [counted] = await database.reader.query(
    `SELECT COUNT(*) AS settled, COUNT(r.payment_id) AS paid, COUNT(DISTINCT r.payment_id) AS payments,
       (SELECT COUNT(*) FROM ${table} b WHERE b.batch_id=${idLiteral(id)}) AS made
     FROM batch_rows r WHERE r.batch_id=${idLiteral(id)} AND r.status<>'pending'`,
  );
  const [settled, paid, payments, made] = ['settled', 'paid', 'payments', 'made'].map((name) =>
    Number(counted![name]),
  );
  assert.deepEqual([settled, payments, made], [rows, paid, paid]);
  return paid!;
}

/** The types of its events, in their order. */
export async function batchEvents({ database }: Databased, id: string): Promise<string[]> {
  const rows = await database.reader.query(
    `SELECT type FROM events WHERE resource_id=${idLiteral(id)} ORDER BY sequence`,
  );
  return rows.map(({ type }) => String(type).replace(/^\w+_batch\./, ''));
}

/** While MySQL comes back nothing can be read. */
export async function isBatchOver({ database }: Databased, id: Uuid): Promise<boolean> {
  const batch = await database.reader.find(batches, { id }).catch(() => undefined);
  return batch?.status === 'completed' || batch?.status === 'partially_failed';
}

/** Through the API that is to be killed: uploaded, validated, executed. */
export async function executedBatch(
  { api }: { readonly api: { readonly baseUrl: string } },
  payroll: PayrollBank,
  rows: number,
): Promise<Uuid> {
  const { bank, source } = payroll;
  const { token } = bank;
  const form = formOf(payroll.file(rows), { source_account: source.id });
  const uploaded = await answeredBy(api, 'POST', payroll.path, {
    token,
    form,
    key: randomUUID(),
  });
  const id = asUuid(String(uploaded.id));
  await until(
    `batch ${id} is ready`,
    async () =>
      (await answeredBy(api, 'GET', `${payroll.path}/${id}`, { token })).status === 'ready',
    { limitMs: READY_MS },
  );
  await answeredBy(api, 'POST', `${payroll.path}/${id}/execute`, {
    token: payroll.executor ?? token,
    key: randomUUID(),
  });
  return id;
}
