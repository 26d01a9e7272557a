import type { CommandResult } from '../../src/core/errors.js';
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type { Actor } from '../../src/access/audit-log.js';
import {
  applyBatchAction,
  type BatchAction,
  type BatchControlDeps,
} from '../../src/batches/control.js';
import { type Caller, SCOPES } from '../../src/core/permissions.js';
import { commandFingerprint } from '../../src/core/fingerprint.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { type Clock, systemClock } from '../../src/core/instant.js';
import type { Database } from '../../src/db/database.js';
import {
  type Batch,
  type BatchKindName,
  batches,
  type BatchProblem,
  type BatchRow,
} from '../../src/db/entities/batches.js';
import type { Account, FeeScheduleRow, Member } from '../../src/db/entities/parties.js';
import { addMember } from '../../src/members/members.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { RecipientBudget } from '../../src/accounts/recipient-budget.js';
import { ConcurrencyLimit } from '../../src/core/concurrency-limit.js';
import type { BatchKinds } from '../../src/batches/kind.js';
import { payoutBatches } from '../../src/batches/kinds/payout.js';
import { GATEWAY_TERMS } from '../../src/payouts/rails/destinations.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import { TEST_KEYRING } from '../helpers/api.js';
import { BONUS_BATCHES } from '../../src/batches/kinds/bonus.js';
import { BatchExecution, type PaymentEnd } from '../../src/batches/execution.js';
import { BatchFiles } from '../../src/batches/files.js';
import { readBatchRows, readProblems } from '../../src/batches/read-batches.js';
import { MAX_ROWS } from '../../src/batches/rules.js';
import { Batches } from '../../src/batches/service.js';
import {
  type FileToRead,
  SheetReaders,
} from '../../src/spreadsheets/worker-thread/sheet-readers.js';
import { type Cell, SheetProblem, type SheetRow } from '../../src/spreadsheets/sheet.js';
import { CHUNK_BYTES, type UploadFile } from '../../src/batches/upload.js';
import {
  validateBatch,
  type ValidationDeps,
  type BatchWatch,
} from '../../src/batches/validation/validate-batch.js';
import {
  BatchWorkflowService,
  type BatchWorkflowDeps,
} from '../../src/batches/workflow-service.js';
import { Deadline } from '../../src/core/timers.js';
import type { WriterOptions } from '../../src/ledger/writer/ledger-writer.js';
import { type Bank, idLiteral, LEAST } from '../helpers/bank.js';
import { STATEMENT_TIMEOUT_MS, type TestDatabase } from '../helpers/database.js';
import {
  makeAccount,
  makeTenant,
  NOBODY,
  openWriter,
  setFee,
  TEST_ACTOR,
  type TestTenant,
  type WantedAccount,
  type WatchedWriter,
} from '../helpers/world.js';

export const BASE_URL = 'https://api.example.test';

/** A cell as a test writes it: text, or one of another kind. */
export type WantedCell = string | null | Cell;

/** A file of the tests' own kind: its rows as JSON, which `openTestSheet` reads back from the stored bytes. */
export function fileOf(rows: readonly (readonly WantedCell[])[], firstNumber = 1): Buffer {
  return Buffer.from(
    JSON.stringify(rows.map((cells, index) => ({ number: firstNumber + index, cells }))),
  );
}

export const HEADER = ['recipient', 'amount', 'asset', 'description', 'reference'] as const;

/** A file with the usual header. */
export function payroll(rows: readonly (readonly WantedCell[])[]): Buffer {
  return fileOf([HEADER, ...rows]);
}

/** A CSV file with the usual header, as a tenant uploads it. */
export function csvOf(rows: readonly (readonly (string | null)[])[]): Buffer {
  return Buffer.from([HEADER, ...rows].map((cells) => `${cells.join(',')}\n`).join(''));
}

/** The file breaks at a row of the one cell `!code`. */
async function* openTestSheet(file: FileToRead): AsyncGenerator<SheetRow> {
  const pieces: Buffer[] = [];
  for await (const piece of file.pieces()) pieces.push(piece);
  const rows = JSON.parse(Buffer.concat(pieces).toString()) as {
    number: number;
    cells: WantedCell[];
  }[];
  for (const { number, cells } of rows) {
    const [first] = cells;
    if (typeof first === 'string' && first.startsWith('!'))
      throw new SheetProblem(first.slice(1) as SheetProblem['code'], 'the file breaks here');
    yield {
      number,
      cells: cells.map((cell) => (typeof cell === 'string' ? { kind: 'text', text: cell } : cell)),
    };
  }
}

export function number(text: string): Cell {
  return { kind: 'number', text };
}

/** A country whose rail takes only some amounts. */
export const LIMITED = {
  country: 'PE',
  limits: { bank_account: { COPM: { min: 200_000n, max: 300_000n } } },
} as const;

/** All kinds of batches. */
export const KINDS: BatchKinds = {
  bonus: BONUS_BATCHES,
  payout: payoutBatches({
    rails: {
      routes: [
        { tenant: '*', country: '*', rail: SIMULATED },
        { tenant: '*', country: LIMITED.country, rail: 'http:limited' },
      ],
      terms: new Map([['http:limited', { ...GATEWAY_TERMS, limits: LIMITED.limits }]]),
    },
    encryptionKeys: TEST_KEYRING,
  }),
};

/** One for all tests of a process, because each would start a thread of its own. */
const ALL = 1_000_000;
const SHEETS = new SheetReaders();

/** The activities of a batch's workflow, with readers of their own, and limits and a budget that no test uses up. */
export function batchServiceOf(
  deps: Pick<BatchWorkflowDeps, 'database' | 'writer' | 'clock'> & Partial<BatchWorkflowDeps>,
): BatchWorkflowService {
  const limits = {
    validating: new ConcurrencyLimit(100, 100),
    paying: new ConcurrencyLimit(100, 100),
  };
  const { database } = deps;
  const own = {
    kinds: KINDS,
    baseUrl: BASE_URL,
    notifier: NOBODY,
    sheets: SHEETS,
    limits,
    recipientBudget: boundless(database),
  };
  return new BatchWorkflowService({ ...own, ...deps });
}

/** Makes the files of batches as a worker does. */
export function fileMaker(database: Database): BatchFiles {
  return new BatchFiles(database, KINDS);
}

/** Validates the tests' own kind of files. */
export function validationParts({
  database,
  clock,
}: Pick<BatchWorld, 'database' | 'clock'>): ValidationDeps {
  return {
    kinds: KINDS,
    database,
    recipientBudget: boundless(database),
    files: fileMaker(database),
    clock,
    baseUrl: BASE_URL,
    maxRows: MAX_ROWS,
    openSheet: openTestSheet,
  };
}

/** For tests whose files may name any recipient. */
function boundless(database: Database): RecipientBudget {
  const size = { ofToken: 1e9, ofTenant: 1e9, fullAfterMs: 1_000 };
  return new RecipientBudget(database, systemClock, openWriter(database).writer, size);
}

/** Nothing aborts. */
export const UNWATCHED: BatchWatch = {
  signal: new AbortController().signal,
  heartbeat: () => undefined,
};

interface WorldOptions {
  readonly kind?: BatchKindName;
  readonly clock?: Clock;
  readonly writer?: Partial<WriterOptions>;
  /** Over a proxy, where connections shall break. */
  readonly database?: Database;
  readonly timeoutMs?: number;
}

/** No relay runs: the tests do themselves what a workflow would. */
function acting(action: BatchAction['action']) {
  return (deps: BatchControlDeps, batchId: Uuid, by: Actor, reason: string): Promise<Batch> =>
    applyBatchAction(deps, { batchId, action, by, reason, actionId: newId() });
}
export const pauseBatch = acting('pause');
export const resumeBatch = acting('resume');
export const cancelBatch = acting('cancel');

/** A file as it comes out of a form. */
function uploadOf(file: Buffer): UploadFile {
  const pieces = Array.from({ length: Math.ceil(file.length / CHUNK_BYTES) }, (_, number) =>
    file.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES),
  );
  return { size: file.length, sha256: createHash('sha256').update(file).digest(), pieces };
}

/** A tenant whose payroll is paid: the service's own deps, without HTTP. */
export class BatchWorld {
  readonly database: Database;
  readonly clock: Clock;
  readonly watched: WatchedWriter;
  readonly batches: Batches;
  private readonly timeoutMs: number;
  readonly execution: BatchExecution;
  /** Who executes: for payouts, never the uploader. */
  private readonly executor: Pick<Member, 'id'>;

  private constructor(
    readonly tenant: TestTenant,
    database: Database,
    options: Omit<WorldOptions, 'database'> & { readonly executor?: Pick<Member, 'id'> },
  ) {
    this.executor = options.executor ?? tenant.owner;
    this.database = database;
    this.clock = options.clock ?? systemClock;
    // As a worker's writer for batches.
    this.watched = openWriter(database, options.writer, this.clock);
    const { writer } = this.watched;
    const { clock } = this;
    this.timeoutMs = options.timeoutMs ?? STATEMENT_TIMEOUT_MS;
    this.batches = new Batches(
      { database, writer, clock, notifier: NOBODY },
      KINDS[options.kind ?? 'bonus'],
    );
    const files = fileMaker(database);
    this.execution = new BatchExecution({
      kinds: KINDS,
      database,
      writer,
      clock,
      baseUrl: BASE_URL,
      files,
    });
  }

  static async open(db: TestDatabase, options: WorldOptions = {}): Promise<BatchWorld> {
    const { database = db.database, ...others } = options;
    const tenant = await makeTenant(db.database);
    const executor =
      options.kind === 'payout'
        ? await addMember(db.database, systemClock, tenant.tenant.id, 'executor', TEST_ACTOR)
        : tenant.owner;
    return new BatchWorld(tenant, database, { ...others, executor });
  }

  /** That of a bank whose API runs in this process: what the worker and the upload's route do for it. */
  static of(
    { api, tenant }: Pick<Bank, 'api' | 'tenant'>,
    kind: BatchKindName = 'bonus',
  ): BatchWorld {
    const { database, clock } = api.core;
    return new BatchWorld(tenant, database, { clock, kind });
  }

  get deps() {
    const { database, clock } = this;
    return { kinds: KINDS, database, writer: this.watched.writer, clock };
  }

  account(wanted: WantedAccount = {}, tenant = this.tenant): Promise<Account> {
    const { id: memberId } = this.executor;
    if (tenant !== this.tenant || memberId === tenant.owner.id)
      return makeAccount(this.deps, tenant, wanted);
    const roles = [...(wanted.roles ?? []), { memberId, role: 'approver' as const }];
    return makeAccount(this.deps, tenant, { ...wanted, roles });
  }

  caller(member: Pick<Member, 'id'> = this.tenant.owner): Caller {
    return {
      tenantId: this.tenant.tenant.id,
      memberId: member.id,
      tokenKeyId: 'test',
      scopes: SCOPES,
      deadline: Deadline.afterMs(this.timeoutMs),
    };
  }

  upload(
    source: Pick<Account, 'id'>,
    file: Buffer,
    key: string = randomUUID(),
  ): Promise<CommandResult<Batch>> {
    const request = { sourceAccountId: source.id, description: 'November', file: uploadOf(file) };
    const fingerprint = commandFingerprint([source.id, file.toString('base64')]);
    return this.batches.upload(this.caller(), request, { key, fingerprint });
  }

  async uploaded(source: Pick<Account, 'id'>, file: Buffer): Promise<Batch> {
    return resourceOf(await this.upload(source, file));
  }

  async validated(source: Pick<Account, 'id'>, file: Buffer): Promise<Batch> {
    const { id } = await this.uploaded(source, file);
    return this.validate(id);
  }

  async validate(id: Uuid, watch = UNWATCHED, maxRows = MAX_ROWS): Promise<Batch> {
    const batch = await validateBatch({ ...validationParts(this), maxRows }, id, watch);
    assert(batch !== undefined);
    return batch;
  }

  /** A batch that is ready; anything wrong in the file fails the test with what it is. */
  async ready(source: Pick<Account, 'id'>, file: Buffer): Promise<Batch> {
    const batch = await this.validated(source, file);
    assert.equal(batch.status, 'ready', JSON.stringify(await this.problems(batch.id)));
    return batch;
  }

  execute(
    { id }: Pick<Batch, 'id'>,
    member: Pick<Member, 'id'> = this.executor,
    key: string = randomUUID(),
  ): Promise<CommandResult<Batch>> {
    const fingerprint = commandFingerprint(['execute', id, member.id]);
    return this.batches.execute(this.caller(member), id, { key, fingerprint });
  }

  async executed(source: Pick<Account, 'id'>, file: Buffer): Promise<Batch> {
    return resourceOf(await this.execute(await this.ready(source, file)));
  }

  pay({ id }: Pick<Batch, 'id'>, watch = UNWATCHED): Promise<PaymentEnd> {
    return this.execution.pay(id, watch);
  }

  async payAll(id: Uuid): Promise<void> {
    assert.equal(await this.pay({ id }), 'over');
  }

  /** From the file to the last row. */
  async paid(source: Pick<Account, 'id'>, file: Buffer): Promise<Batch> {
    const { id } = await this.executed(source, file);
    await this.payAll(id);
    return this.batch(id);
  }

  async batch(id: Uuid): Promise<Batch> {
    const batch = await this.database.reader.find(batches, { id });
    assert(batch !== undefined);
    return batch;
  }

  async rows(id: Uuid): Promise<readonly BatchRow[]> {
    return readBatchRows(this.database.reader, await this.batch(id), {}, 0, ALL);
  }

  problems(id: Uuid): Promise<readonly BatchProblem[]> {
    return readProblems(this.database.reader, id, ALL);
  }

  async events(): Promise<string[]> {
    const rows = await this.database.reader.query(
      `SELECT type FROM events WHERE tenant_id=${idLiteral(this.tenant.tenant.id)} ORDER BY sequence`,
    );
    return rows.map(({ type }) => String(type));
  }

  async charge(account: Pick<Account, 'id'>, schedule: Partial<FeeScheduleRow>): Promise<void> {
    const tenantId = this.tenant.tenant.id;
    await setFeeAccount(
      { database: this.database, clock: systemClock },
      tenantId,
      account.id,
      TEST_ACTOR,
    );
    await setFee(this.database, { tenantId, operation: 'bonus', ...schedule });
  }
}

export function resourceOf<Row>({ outcome }: CommandResult<Row>): Row {
  assert(outcome.done, outcome.done ? '' : outcome.refusal.message);
  return outcome.resource;
}

export function codeOf({ outcome }: CommandResult<unknown>): string | undefined {
  return outcome.done ? undefined : outcome.refusal.code;
}

/** A batch of the account whose file had an error. */
export function rejectedBatch(
  bank: Pick<Bank, 'api' | 'tenant'>,
  source: Pick<Account, 'id'>,
): Promise<Batch> {
  return BatchWorld.of(bank).validated(source, payroll([['$nobody', LEAST.toString(), 'COPM']]));
}

/** A batch of one row from the one account to the other, not executed. */
export function readyBatch(
  bank: Pick<Bank, 'api' | 'tenant'>,
  from: Pick<Account, 'id'>,
  to: Pick<Account, 'id'>,
): Promise<Batch> {
  return BatchWorld.of(bank).ready(from, payrollOf(to));
}

/** A batch of one row from the one account to the other, paid. */
export function paidBatch(
  bank: Pick<Bank, 'api' | 'tenant'>,
  from: Pick<Account, 'id'>,
  to: Pick<Account, 'id'>,
): Promise<Batch> {
  return BatchWorld.of(bank).paid(from, payrollOf(to));
}

function payrollOf(to: Pick<Account, 'id'>): Buffer {
  return payroll([[to.id, LEAST.toString(), 'COPM', null, null]]);
}

/** The form of an upload: the fields, then the file. */
export function formOf(
  file: Buffer,
  fields: Readonly<Record<string, string>>,
  { name = 'payroll.csv', part = 'file' }: { readonly name?: string; readonly part?: string } = {},
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append(part, new Blob([new Uint8Array(file)]), name);
  return form;
}
