import { type ActorName, type AssetName, type BatchKind, LIMITS } from './operations.js';
import {
  amountJson,
  bankAccount,
  type Json,
  type RefAccount,
  type RefListed,
  type RefPayout,
  time,
} from './reference-state.js';

/** A problem of a file: the row as a spreadsheet counts it, the column, the code. */
export type RefProblem = readonly [row: number | null, column: string, code: string];

export interface RefRow {
  readonly number: number;
  /** As the file has it. */
  readonly recipient: string;
  /** Null for a bank account. */
  readonly account: RefAccount | null;
  /** The account's id, or the number of the bank account. */
  readonly payee: string;
  readonly raw: bigint;
  readonly fee: bigint;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Json;
  status: 'pending' | 'paid' | 'failed';
  paymentId: string | null;
  code: string | null;
  paidAt: number | null;
  /** Null for a bonus, and before it is created. */
  payout: RefPayout | null;
  /** The status in the result file, which is made when the batch ends. */
  resultStatus: string;
}

/** The request of an upload. */
interface RefUpload {
  readonly kind: BatchKind;
  readonly id: string;
  readonly key: string;
  readonly at: number;
  readonly source: RefAccount;
  readonly creator: ActorName;
  readonly description: string | null;
  readonly file: string;
}

/** Of the service that the tests run. */
export const BASE_URL = 'https://api.example.test';

/** A batch as docs/contract.md describes it (Batches, Review). */
export class RefBatch implements RefListed {
  readonly destination = null;
  status = 'validating';
  asset: AssetName | null = null;
  rowCount = 0;
  rowsRejected = 0;
  total = 0n;
  fees = 0n;
  /** Fixed when the file is validated, as the fees are. */
  feeAccount: RefAccount | null = null;
  duplicates: Json | null = null;
  problems: readonly RefProblem[] = [];
  rows: readonly RefRow[] = [];
  validatedAt = 0;
  earlier: Json | null = null;
  earlierAt = 0;
  executedAt: number | null = null;
  executedBy: ActorName | null = null;
  finishedAt: number | null = null;
  rejection: 'withdrawn' | 'lapsed' | null = null;
  isHeld = false;
  isPaused = false;
  isCanceled = false;
  /** By support, whose action is done once. */
  isEndedBySupport = false;

  constructor(readonly of: RefUpload) {}

  get key(): string {
    return this.of.key;
  }

  get at(): number {
    return this.of.at;
  }

  get source(): RefAccount {
    return this.of.source;
  }

  get pending(): readonly RefRow[] {
    return this.rows.filter(({ status }) => status === 'pending');
  }

  /** True if the file was accepted, also if the batch failed later. */
  get isAccepted(): boolean {
    return this.status !== 'validating' && (this.status !== 'rejected' || this.rejection !== null);
  }

  get isFinished(): boolean {
    return this.status === 'completed' || this.status === 'partially_failed';
  }

  /** As its events carry it. */
  get told(): Json {
    const { of, asset, isAccepted } = this;
    const sum = (raw: bigint): Json | null => (asset === null ? null : amountJson(raw, asset));
    const file = (name: string, isThere: boolean): string | null =>
      isThere ? `${BASE_URL}/v1/${of.kind}_batches/${of.id}/files/${name}` : null;
    const when = (at: number | null): string | null => (at === null ? null : time(at));
    return {
      id: of.id,
      status: this.status,
      source_account: of.source.id,
      description: of.description,
      rows: this.rowCount,
      rows_rejected: this.rowsRejected,
      total: sum(this.total),
      fees: isAccepted ? sum(this.fees) : null,
      total_debit: isAccepted ? sum(this.total + this.fees) : null,
      duplicates: this.duplicates,
      hidden: this.status === 'validating' ? null : { rows: 0, columns: [], skipped_sheets: 0 },
      unread_sheets: this.status === 'validating' ? null : [],
      files: {
        errors_url: file('errors', this.status === 'rejected' && this.rejection === null),
        result_url: file('result', this.isFinished),
      },
      rejection: this.rejection === null ? null : { code: this.rejection },
      created_at: time(of.at),
      executed_at: when(this.executedAt),
      finished_at: when(this.finishedAt),
    };
  }

  /** As the answer to a request that changed it shows it. */
  get json(): Json {
    const count = (wanted: RefRow['status']): number =>
      this.rows.filter(({ status }) => status === wanted).length;
    const isExecuted = this.status === 'executing' || this.isFinished;
    const isBonus = this.of.kind === 'bonus';
    const done = { [isBonus ? 'paid' : 'created']: count('paid') };
    const progress = isExecuted
      ? { ...done, failed: count('failed'), pending: count('pending') }
      : null;
    const payouts = isBonus ? {} : { payouts: isExecuted ? this.payoutCounts : null };
    return { ...this.told, ...NOT_REVIEWED, ...payouts, progress };
  }

  private get payoutCounts(): Json {
    const statuses = this.rows.flatMap(({ payout }) => payout?.json.status ?? []);
    return Object.fromEntries(
      PAYOUT_STATUSES.map((status) => [status, statuses.filter((one) => one === status).length]),
    );
  }

  /** The batch with the preview of its execution, as lists show it: true only now. */
  get reviewed(): Json {
    const { asset, source } = this;
    if (this.status !== 'ready' || asset === null) return this.json;
    const available = source.balances[asset];
    const missing = this.total + this.fees - available;
    const shortfall = missing > 0n ? missing : 0n;
    return {
      ...this.json,
      funding: {
        available: `${available}`,
        sufficient: shortfall === 0n,
        shortfall: `${shortfall}`,
      },
      can_send: !source.isFrozen && source.verifiedAt !== null,
      total_formatted: formatted(this.total, asset),
      fees_formatted: formatted(this.fees, asset),
      total_debit_formatted: formatted(this.total + this.fees, asset),
    };
  }

  /** A row of it; of a failure the code alone, since its message is for people. */
  rowJson(row: RefRow): Json {
    const asset = this.asset!;
    const paidAt = row.paidAt === null ? null : time(row.paidAt);
    const shared = {
      row: row.number,
      amount: amountJson(row.raw, asset),
      fee: amountJson(row.fee, asset),
      description: row.description,
      reference: row.reference,
      metadata: row.metadata,
      failure: row.code,
    };
    if (row.account === null)
      return {
        ...shared,
        status: row.status === 'paid' ? 'created' : row.status,
        destination: { ...bankAccount(row.payee), holder_document: '****6123' },
        payout_id: row.paymentId,
        created_at: paidAt,
      };
    return {
      ...shared,
      status: row.status,
      recipient: row.recipient,
      account_id: row.account.id,
      bonus_id: row.paymentId,
      paid_at: paidAt,
    };
  }
}

const PAYOUT_STATUSES = [
  ...['pending_approval', 'approved', 'in_progress', 'completed', 'returned', 'rejected'],
  ...['canceled', 'failed'],
];

const NOT_REVIEWED = {
  funding: null,
  can_send: null,
  earlier_payments: null,
  total_formatted: null,
  fees_formatted: null,
  total_debit_formatted: null,
};

/** As people read an amount: 1,500.00 COPM. */
function formatted(raw: bigint, asset: AssetName): string {
  const { scale } = LIMITS[asset];
  const digits = `${raw}`.padStart(scale + 1, '0');
  const whole = digits.slice(0, -scale).replace(/\B(?=(?:[0-9]{3})+$)/g, ',');
  return `${whole}.${digits.slice(-scale)} ${asset}`;
}
