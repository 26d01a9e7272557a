import { type ActorName, BATCH_LISTS } from './operations.js';
import type { Played } from './generated.js';
import { RefBatch, type RefRow } from './reference-batch.js';
import { FileReading } from './reference-batch-file.js';
import type { ReferenceLedger } from './reference-ledger.js';
import {
  amountJson,
  type Expected,
  FORBIDDEN,
  type Json,
  NOT_FOUND,
  type RefAccount,
  type RefTenant,
  time,
} from './reference-state.js';

/** Batches as docs/contract.md describes them (Batches to Execution), beside the reference ledger. */

/** The possible results of batches and their rows, to count how often each was played. */
export const BATCH_ENDINGS = [
  'batch ready',
  'batch rejected',
  'batch executed with a hold',
  'batch executed without a hold',
  'batch not executed by its uploader',
  'row paid',
  'row failed',
  'row failed since the batch was canceled',
  'batch completed',
  'batch partially failed',
  'batch withdrawn',
  'batch lapsed',
  'batch canceled by support',
  'batch found paused',
  'payout batch not executed by its uploader',
  'row became a payout',
  'row refused as a payout',
  'payout batch completed',
] as const;

const APPROVERS = ['approver', 'admin', 'owner'];
const MANAGERS = ['admin', 'owner'];
const SAME_FILE_MS = 90 * 86_400_000;
const READY_MS = 30 * 86_400_000;

export class ReferenceBatches {
  /** The fields that every row asked for, as long as its file was not read. */
  private readonly wanted = new Map<RefBatch, Played<'upload'>>();

  constructor(private readonly ledger: ReferenceLedger) {}

  /** The batches of those who act. */
  get all(): readonly RefBatch[] {
    const { homes } = this.ledger;
    return homes.flatMap((tenant) => BATCH_LISTS.flatMap((what) => tenant[what]));
  }

  /** The response to the upload of a batch of its kind. `madeId` returns the id of the service's 201. */
  upload(wanted: Played<'upload'>, file: string, key: string, madeId: () => string): Expected {
    const { ledger } = this;
    const { actor, from, description, kind } = wanted;
    const tenant = ledger.tenantOf(actor);
    const source = ledger.accounts[from] ?? null;
    const content = JSON.stringify(['upload', kind, from, description, file]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (source === null || source.tenant !== tenant.id) return NOT_FOUND;
    if (!ledger.mayCreate(actor, source)) return FORBIDDEN;
    const batch = new RefBatch({
      kind,
      id: madeId(),
      key,
      at: ledger.now,
      source,
      creator: actor,
      description,
      file,
    });
    tenant[`${kind}_batches`].push(batch);
    this.wanted.set(batch, wanted);
    tenant.keys.set(key, { content, result: batch });
    return { status: 201, body: batch.json };
  }

  /** The whole file is read, and accepted or refused whole. */
  validate(batch: RefBatch): void {
    const wanted = this.wanted.get(batch);
    if (batch.status !== 'validating' || wanted === undefined) return;
    const tenant = this.ledger.tenant(batch.source.tenant);
    const reading = new FileReading(this.ledger, tenant, batch, wanted);
    reading.readAll();
    const { problems, rows } = reading;
    batch.problems = problems;
    batch.validatedAt = this.ledger.now;
    if (problems.length > 0) {
      batch.status = 'rejected';
      return this.tell(batch, 'rejected', 'batch rejected');
    }
    batch.status = 'ready';
    batch.rows = rows;
    batch.fees = rows.reduce((sum, { fee }) => sum + fee, 0n);
    batch.feeAccount = tenant.feeAccount;
    this.ledger.searchEarlier(batch);
    batch.duplicates = {
      count: reading.duplicates.length,
      rows: reading.duplicates,
      same_file_batch_id: this.sameFile(tenant, batch),
    };
    this.tell(batch, 'ready', 'batch ready');
  }

  /** The response to POST …/execute. */
  execute(actor: ActorName, batch: RefBatch, key: string): Expected {
    const { ledger } = this;
    const tenant = ledger.tenantOf(actor);
    const content = JSON.stringify(['execute', batch.of.id, actor]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known.status === 200 ? { ...known, status: 202 } : known;
    const { source, asset, total } = batch;
    if (source.tenant !== tenant.id) return NOT_FOUND;
    if (!APPROVERS.includes(ledger.role(actor, source) ?? '')) return FORBIDDEN;
    const isOfPayouts = batch.of.kind === 'payout';
    const policy = asset === null ? undefined : ledger.approvals.policyOf(source, asset);
    const needsSecond = isOfPayouts
      ? asset !== null
      : policy !== undefined && total >= policy.threshold;
    if (actor === batch.of.creator && needsSecond) {
      const ending = 'batch not executed by its uploader';
      ledger.count(isOfPayouts ? `payout ${ending}` : ending);
      return FORBIDDEN;
    }
    this.lapse(batch);
    if (batch.status !== 'ready' || asset === null) return stateRefusal(batch);
    const debit = total + batch.fees;
    batch.isHeld = source.balances[asset] >= debit;
    if (batch.isHeld) ledger.hold({ source, asset }, debit);
    batch.status = 'executing';
    batch.executedAt = ledger.now;
    batch.executedBy = actor;
    ledger.count(batch.isHeld ? 'batch executed with a hold' : 'batch executed without a hold');
    tenant.keys.set(key, { content, result: batch });
    return { status: 202, body: batch.json };
  }

  /** The next rows in their order. `idOf` tells the id that the service gave to what pays a row. Answers how many it tried. */
  payRows(batch: RefBatch, count: number | null, idOf: (row: number) => string): number {
    if (batch.status !== 'executing' || this.isPaused(batch)) return 0;
    const rows = batch.pending.slice(0, count ?? undefined);
    for (const row of rows) this.payRow(batch, row, idOf);
    return rows.length;
  }

  /** The end of the payment, once nothing is left. */
  end(batch: RefBatch): 'over' | 'paused' {
    if (this.isPaused(batch)) {
      this.ledger.count('batch found paused');
      return 'paused';
    }
    if (batch.status !== 'executing') return 'over';
    const isWhole = batch.rows.every(({ status }) => status === 'paid');
    batch.status = isWhole ? 'completed' : 'partially_failed';
    batch.finishedAt = this.ledger.now;
    for (const row of batch.rows)
      row.resultStatus = String(row.payout === null ? row.status : row.payout.json.status);
    if (isWhole && batch.of.kind === 'payout') this.ledger.count('payout batch completed');
    this.tell(batch, batch.status, isWhole ? 'batch completed' : 'batch partially failed');
    return 'over';
  }

  /** The response to POST …/cancel. */
  withdraw(actor: ActorName, batch: RefBatch): Expected {
    const role = this.ledger.role(actor, batch.source);
    if (batch.source.tenant !== this.ledger.tenantOf(actor).id) return NOT_FOUND;
    const isUploader = actor === batch.of.creator && role !== null;
    if (!MANAGERS.includes(role ?? '') && !isUploader) return FORBIDDEN;
    this.lapse(batch);
    if (batch.status !== 'ready') return stateRefusal(batch);
    this.endUnexecuted(batch, 'withdrawn');
    return { status: 200, body: batch.json };
  }

  /** Expires by time, even if a member would execute or withdraw it. */
  lapse(batch: RefBatch, readyForMs = READY_MS): void {
    if (batch.status === 'ready' && this.ledger.now >= batch.validatedAt + readyForMs)
      this.endUnexecuted(batch, 'lapsed');
  }

  /** The result of support's request: the code of its refusal, or null. */
  steer(batch: RefBatch, act: 'pause' | 'resume' | 'cancel'): string | null {
    const isSettled = batch.status === 'executing' && batch.pending.length === 0;
    if (act !== 'cancel') {
      if (batch.status !== 'executing' || isSettled) return 'invalid_state';
      batch.isPaused = act === 'pause';
      return null;
    }
    if (batch.isEndedBySupport) return null;
    this.lapse(batch);
    if (batch.status === 'ready') this.endUnexecuted(batch, 'withdrawn');
    else if (batch.status !== 'executing' || isSettled) return 'invalid_state';
    else {
      batch.isCanceled = true;
      for (const row of batch.pending) this.release(batch, row);
      this.ledger.count('batch canceled by support');
    }
    batch.isEndedBySupport = true;
    return null;
  }

  /** Nothing more is paid before it is resumed. */
  private isPaused(batch: RefBatch): boolean {
    return (
      batch.status === 'executing' &&
      batch.isPaused &&
      !batch.isCanceled &&
      batch.pending.length > 0
    );
  }

  private payRow(batch: RefBatch, row: RefRow, idOf: (row: number) => string): void {
    const { ledger } = this;
    const { source } = batch;
    const { raw, fee } = row;
    const asset = batch.asset!;
    if (batch.isCanceled)
      return this.fail(row, 'canceled', 'row failed since the batch was canceled');
    // Its share of what is held is there for this row alone.
    this.release(batch, row);
    const refusal = ledger.refusal(source, asset, raw, fee);
    if (refusal !== null) {
      const ending = batch.of.kind === 'bonus' ? 'row failed' : 'row refused as a payout';
      return this.fail(row, refusal.code ?? '', ending);
    }
    row.status = 'paid';
    row.paymentId = idOf(row.number);
    row.paidAt = ledger.now;
    if (row.account === null) row.payout = ledger.payouts.ofRow(batch, row);
    else this.payBonus(batch, row, row.account);
  }

  private payBonus(batch: RefBatch, row: RefRow, destination: RefAccount): void {
    const { ledger } = this;
    const { source } = batch;
    const { raw, fee } = row;
    const asset = batch.asset!;
    ledger.count('row paid');
    const json: Json = {
      id: row.paymentId,
      status: 'completed',
      source_account: source.id,
      recipient: { account_id: destination.id },
      amount: amountJson(raw, asset),
      fee: amountJson(fee, asset),
      total_debited: amountJson(raw + fee, asset),
      refunded: amountJson(0n, asset),
      description: row.description ?? batch.of.description,
      reference: row.reference,
      metadata: row.metadata,
      created_at: time(ledger.now),
    };
    const feeAccount = fee > 0n ? batch.feeAccount : null;
    // No client's key stands for it.
    const made = {
      json,
      key: '',
      at: ledger.now,
      source,
      destination,
      asset,
      raw,
      fee,
      feeAccount,
    };
    ledger.tenant(source.tenant).bonuses.push(made);
    ledger.useMonth(source, asset, raw);
    ledger.enterAll('bonus', made);
  }

  private fail(row: RefRow, code: string, ending: (typeof BATCH_ENDINGS)[number]): void {
    row.status = 'failed';
    row.code = code;
    this.ledger.count(ending);
  }

  private release({ isHeld, source, asset }: RefBatch, { raw, fee }: RefRow): void {
    if (isHeld) this.ledger.hold({ source, asset: asset! }, -(raw + fee));
  }

  private endUnexecuted(batch: RefBatch, code: 'withdrawn' | 'lapsed'): void {
    batch.status = 'rejected';
    batch.rejection = code;
    batch.finishedAt = this.ledger.now;
    this.tell(batch, 'rejected', `batch ${code}`);
  }

  private tell(batch: RefBatch, what: string, ending: (typeof BATCH_ENDINGS)[number]): void {
    const { events } = this.ledger.tenant(batch.source.tenant);
    const type = `${batch.of.kind}_batch.${what}`;
    events.push({ type, object: batch.told, at: this.ledger.now });
    this.ledger.count(ending);
  }

  /** The newest earlier one with the same bytes. */
  private sameFile(tenant: RefTenant, { of }: RefBatch): string | null {
    const all = [...tenant.bonus_batches, ...tenant.payout_batches];
    const isEarlier = (other: RefBatch['of']): boolean =>
      other.at < of.at || (other.at === of.at && other.id < of.id);
    const same = all
      .map((batch) => batch.of)
      .filter(
        (other) => other.file === of.file && other.at > of.at - SAME_FILE_MS && isEarlier(other),
      )
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    return same.at(-1)?.id ?? null;
  }
}

function stateRefusal({ status }: RefBatch): Expected {
  return { status: 409, code: 'invalid_state', details: { current: status, allowed: ['ready'] } };
}
