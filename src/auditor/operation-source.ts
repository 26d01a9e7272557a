import { type Amount, amountJson, type Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import type { Reader } from '../db/database.js';
import type { EventType } from '../db/entities/events.js';
import type { EntryKind, Hold, ResourceType } from '../db/entities/ledger.js';
import type { RefundedType, Transfer } from '../db/entities/operations.js';
import type { SystemRole } from '../db/entities/parties.js';
import type { Payout } from '../db/entities/payouts.js';
import type { Table } from '../db/table.js';
import { type AuditRun, byId, readOwners, ROWS_PER_SLICE, scanTable, type Visit } from './scan.js';

export interface ExpectedEntry {
  /** An account's id, or the role of a system account of the tenant. */
  readonly account: Uuid | SystemRole;
  readonly asset: Asset;
  readonly raw: bigint;
  readonly kind: EntryKind;
  readonly counterparty: Uuid | SystemRole;
}

export function entryPair(
  [from, out]: readonly [ExpectedEntry['account'], EntryKind],
  [to, into]: readonly [ExpectedEntry['account'], EntryKind],
  { asset, raw }: Amount,
): ExpectedEntry[] {
  return [
    { account: from, asset, raw: -raw, kind: out, counterparty: to },
    { account: to, asset, raw, kind: into, counterparty: from },
  ];
}

type FeeColumns = Pick<Transfer, 'sourceAccountId' | 'feeAccountId' | 'asset' | 'feeRaw'>;

export function feeAccountOf({ feeAccountId: id }: Pick<FeeColumns, 'feeAccountId'>): Uuid[] {
  return id === null ? [] : [id];
}

export function feeEntries({
  sourceAccountId,
  asset,
  feeRaw: raw,
  ...row
}: FeeColumns): ExpectedEntry[] {
  return feeAccountOf(row).flatMap((account) =>
    entryPair([sourceAccountId, 'fee_out'], [account, 'adjustment_in'], { asset, raw }),
  );
}

/** Returns the fields that all events of a transfer or payout contain. */
export function eventFieldsOf(row: Transfer | Payout): Expectation['eventFields'] {
  const { sourceAccountId, asset, raw, feeRaw, description } = row;
  const [amount, fee] = [raw, feeRaw].map((one) => amountJson({ raw: one, asset }));
  return { source_account: sourceAccountId, amount, fee, description };
}

/** Rows that must exist for an operation in its present state. */
export interface Expectation {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly createdAt: Instant;
  /** Null if the operation has none, or can have none. */
  readonly metadata: Metadata | null;
  readonly state: string;
  readonly description: string | null;
  /** Accounts that must exist. Those in `owned` must belong to the tenant. */
  readonly accounts: readonly Uuid[];
  readonly owned: readonly Uuid[];
  readonly fee: { readonly raw: bigint; readonly accountId: Uuid | null };
  readonly postings: readonly (readonly ExpectedEntry[])[];
  readonly events: readonly EventType[];
  /** Null if no hold was ever placed. */
  readonly hold: ExpectedHold | null;
  readonly approval: ExpectedApproval | null;
  /** The schedule of a scheduled transfer; null for every other operation. */
  readonly scheduleId: Uuid | null;
  /** Null for kinds that cannot be refunded. */
  readonly refunds: RefundSums | null;
  /** The original of a refund; null for every other operation. */
  readonly refundOf: { readonly type: RefundedType; readonly id: Uuid } | null;
  /** The fee that an adjustment gives back, proposed or posted; null for every other operation. */
  readonly feeRefund: FeeRefund | null;
  readonly people: { readonly proposed: Uuid | null; readonly decided: Uuid | null } | null;
  /** True if only the request's key prevents a second execution. */
  readonly isKeyed: boolean;
  /** Fields of every event, which are named or written differently in the row. */
  readonly eventFields: Readonly<Record<string, unknown>>;
  /** Returns the columns that never change, by the names under which an event may show them. */
  columns(): readonly (readonly [name: string, value: unknown])[];
}

interface FeeRefund extends Amount {
  readonly operationId: Uuid;
  readonly accountId: Uuid;
}

interface RefundSums {
  readonly asset: Asset;
  /** The amount that the second account received and may send back; zero for a refund. */
  readonly received: bigint;
  readonly refunded: bigint;
  readonly refunding: bigint;
}

type ExpectedHold = Pick<Hold, 'accountId' | 'asset' | 'raw' | 'remaining' | 'expiresAt'>;

interface ExpectedApproval {
  readonly received: number;
  readonly required: number;
  readonly isApproved: boolean;
  readonly isWaiting: boolean;
  readonly createdBy: Uuid;
}

type ApprovalColumns = Pick<
  Transfer | Payout,
  'status' | 'createdBy' | 'approvalsRequired' | 'approvalsReceived'
>;

export function approvalOf(row: ApprovalColumns, isApproved: boolean): ExpectedApproval | null {
  const { status, createdBy, approvalsRequired, approvalsReceived } = row;
  const isWaiting = status === 'pending_approval';
  if (approvalsRequired === null && approvalsReceived === null && !isWaiting) return null;
  return {
    required: approvalsRequired ?? 0,
    received: approvalsReceived ?? 0,
    isApproved,
    isWaiting,
    createdBy,
  };
}

interface SourceDefinition<Row> {
  readonly resourceType: ResourceType;
  readonly table: Table<Row>;
  /** Set if the table has operations of other types too. */
  readonly isOwn?: (row: Row) => boolean;
  /** SQL for the rows that count in their `limit_month`; null for none. */
  readonly monthUse: string | null;
  /** SQL for the amount of a row that counts, by default `raw`. */
  readonly monthRaw?: string;
  /** Returns the rows that must exist, and may exist. `owned` is all `accounts` by default. */
  readonly expect: (
    row: Row,
  ) => Pick<Expectation, 'state' | 'description' | 'accounts'> &
    Partial<Omit<Expectation, 'id' | 'tenantId' | 'createdAt' | 'metadata' | 'columns'>>;
}

const NONE = {
  fee: { raw: 0n, accountId: null },
  postings: [],
  events: [],
  hold: null,
  approval: null,
  scheduleId: null,
  refunds: null,
  refundOf: null,
  feeRefund: null,
  people: null,
  isKeyed: false,
  eventFields: {},
};

interface OperationRow {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly createdAt: Instant;
  readonly metadata?: Metadata | null;
}

/** Types of columns that an event shows as they are stored. */
const SHOWN_TYPES: readonly string[] = ['varchar', 'char', 'enum', 'int', 'tinyint'];
/** Columns of these types that events show, and that change later. */
const CHANGING = ['status', 'railReference'];

/** Defines how the auditor checks the operations of a feature. */
export function operationSource<Row extends OperationRow>({
  resourceType,
  table,
  isOwn = () => true,
  monthUse,
  monthRaw = 'raw',
  expect: expected,
}: SourceDefinition<Row>) {
  const fixed = table.columns.filter(
    ({ property, column }) => SHOWN_TYPES.includes(column.type) && !CHANGING.includes(property),
  );
  const expect = (row: Row): Expectation => {
    const required = expected(row);
    const { id, tenantId, createdAt, metadata = null } = row;
    const columns = () =>
      fixed.map(({ property, name }) => [name, row[property as keyof Row]] as const);
    const own = { id, tenantId, createdAt, metadata, columns };
    return { ...NONE, owned: required.accounts, ...required, ...own };
  };
  return {
    resourceType,
    table: { name: table.name },
    monthUse,
    monthRaw,
    expectations: async (
      reader: Reader,
      ids: Iterable<Uuid>,
    ): Promise<ReadonlyMap<Uuid, Expectation>> => {
      const rows = await byId(reader, table, ids);
      const own = [...rows].filter(([, row]) => isOwn(row));
      return new Map(own.map(([id, row]) => [id, expect(row)]));
    },
    owners: (reader: Reader, ids: Iterable<Uuid>) => readOwners(reader, table, ids),
    list: async (reader: Reader, condition: string): Promise<readonly Expectation[]> =>
      (await reader.list(table, condition)).filter(isOwn).map(expect),
    scan: (audit: AuditRun, check: Visit<Expectation>): Promise<void> =>
      scanTable(audit, table, ROWS_PER_SLICE, (reader, rows) =>
        check(reader, rows.filter(isOwn).map(expect)),
      ),
  };
}

export type OperationSource = ReturnType<typeof operationSource>;
