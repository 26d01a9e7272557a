import { type Amount, amountJson, type Asset } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { EventType } from '../../db/entities/events.js';
import type { EntryKind, ResourceType } from '../../db/entities/ledger.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { SystemRole } from '../../db/entities/parties.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { Table } from '../../db/table.js';
import type { AuditRun } from '../run.js';
import { byId, ownersById, type Visit, walkTable } from '../walk.js';

export interface ExpectedEntry {
  /** An account, or the tenant's own system account with a role. */
  readonly account: Uuid | SystemRole;
  readonly asset: Asset;
  readonly raw: bigint;
  readonly kind: EntryKind;
  readonly counterparty: Uuid | SystemRole;
}

/** Money that goes from one account to another: an entry in each, of these kinds. */
export function moved(
  [from, out]: readonly [ExpectedEntry['account'], EntryKind],
  [to, into]: readonly [ExpectedEntry['account'], EntryKind],
  { asset, raw }: Amount,
): ExpectedEntry[] {
  return [
    { account: from, asset, raw: -raw, kind: out, counterparty: to },
    { account: to, asset, raw, kind: into, counterparty: from },
  ];
}

/** The account that gets the fee, if there is one. */
export function feeAccountOf({ feeAccountId }: Pick<FeeColumns, 'feeAccountId'>): Uuid[] {
  return feeAccountId === null ? [] : [feeAccountId];
}

export function feeOf({
  sourceAccountId,
  feeAccountId,
  asset,
  feeRaw: raw,
}: FeeColumns): ExpectedEntry[] {
  return feeAccountId === null
    ? []
    : moved([sourceAccountId, 'fee_out'], [feeAccountId, 'adjustment_in'], { asset, raw });
}

type FeeColumns = Pick<Transfer, 'sourceAccountId' | 'feeAccountId' | 'asset' | 'feeRaw'>;

type ShownColumns = Pick<
  Transfer | Payout,
  'sourceAccountId' | 'asset' | 'raw' | 'feeRaw' | 'description'
>;

/** What events of transfers and payouts show. */
export function shownOf(row: ShownColumns): Expectation['shown'] {
  const { sourceAccountId, asset, raw, feeRaw, description } = row;
  const [amount, fee] = [raw, feeRaw].map((one) => amountJson({ raw: one, asset }));
  return { source_account: sourceAccountId, amount, fee, description };
}

const NO_FEE: Expectation['fee'] = { raw: 0n, accountId: null };

/** What the ledger must hold for an operation in its present state. */
export interface Expectation {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  /** Its state in a word, for messages. */
  readonly state: string;
  /** The text that its movements show. */
  readonly description: string | null;
  /** Every account that it names. */
  readonly accounts: readonly Uuid[];
  /** Those of them that are its tenant's own. */
  readonly owned: readonly Uuid[];
  /** Its fee, and who gets it. */
  readonly fee: { readonly raw: bigint; readonly accountId: Uuid | null };
  /** Its ledger transactions, each as its entries. */
  readonly postings: readonly (readonly ExpectedEntry[])[];
  readonly events: readonly EventType[];
  /** What was set aside for it, and how much of that still is; null if nothing ever was. */
  readonly hold: ExpectedHold | null;
  /** Its approvals; null if it needs none. */
  readonly approval: ExpectedApproval | null;
  /** Who proposed and who decided it, if that takes two; null otherwise. */
  readonly people: { readonly proposed: Uuid | null; readonly decided: Uuid | null } | null;
  /** Whether one request moves its money or sets it aside, so that only the request's key keeps it from happening twice. */
  readonly isKeyed: boolean;
  /** What its events show of it, whatever its state. */
  readonly shown: Readonly<Record<string, unknown>>;
}

interface ExpectedHold {
  readonly accountId: Uuid;
  readonly asset: Asset;
  readonly raw: bigint;
  readonly remaining: bigint;
  /** By which the hold is found: null except for waiting transfers. */
  readonly expiresAt: Instant | null;
}

interface ExpectedApproval {
  readonly received: number;
  readonly required: number;
  readonly isApproved: boolean;
  readonly isWaiting: boolean;
  /** The creator, who may not approve it. */
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

/**
 * What the auditor knows of a feature that moves money. A feature adds its own to `index.ts`; every check about
 * operations, holds, months, events and references follows from it.
 */
export interface OperationSource {
  readonly resourceType: ResourceType;
  readonly tableName: string;
  /** SQL for the rows that count in their `limit_month`; null if the operation uses no monthly allowance. */
  readonly monthUse: string | null;
  /** What must exist for these operations, by id, omitting those that do not exist. */
  expectations(reader: Reader, ids: Iterable<Uuid>): Promise<ReadonlyMap<Uuid, Expectation>>;
  /** The tenants of those that exist, by id. */
  owners(reader: Reader, ids: Iterable<Uuid>): Promise<ReadonlyMap<Uuid, Uuid>>;
  /** Walks all operations, each slice in one snapshot. */
  walk(audit: AuditRun, size: number, check: Visit<Expectation>): Promise<void>;
}

interface SourceDefinition<Row> {
  readonly resourceType: ResourceType;
  readonly table: Table<Row>;
  readonly monthUse: string | null;
  /** Pure. What it leaves out is not called for; all accounts are the tenant's own. */
  readonly expect: (row: Row) => Expected;
}

type Expected = Pick<Expectation, 'state' | 'description' | 'accounts'> &
  Partial<Omit<Expectation, 'id' | 'tenantId'>>;

const NOT_CALLED_FOR = {
  postings: [],
  events: [],
  hold: null,
  approval: null,
  people: null,
  shown: {},
};

export function operationSource<Row extends { readonly id: Uuid; readonly tenantId: Uuid }>(
  definition: SourceDefinition<Row>,
): OperationSource {
  const { resourceType, table, monthUse } = definition;
  const expect = (row: Row): Expectation => {
    const { id, tenantId } = row;
    const expected = definition.expect(row);
    const usual = { ...NOT_CALLED_FOR, owned: expected.accounts, fee: NO_FEE, isKeyed: false };
    return { id, tenantId, ...usual, ...expected };
  };
  return {
    resourceType,
    tableName: table.name,
    monthUse,
    expectations: async (reader, ids) => {
      const rows = await byId(reader, table, ids);
      return new Map(Array.from(rows, ([id, row]) => [id, expect(row)]));
    },
    owners: (reader, ids) => ownersById(reader, table, ids),
    walk: (audit, size, check) =>
      walkTable(audit, table, size, (reader, rows) => check(reader, rows.map(expect))),
  };
}
