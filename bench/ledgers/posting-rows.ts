import { ASSETS, eachAsset } from '../../src/core/amount.js';
import type { Uuid } from '../../src/core/ids.js';
import type { EventRow } from '../../src/db/entities/events.js';
import type {
  Entry,
  IdempotencyKey,
  LedgerTransaction,
  MonthTotal,
} from '../../src/db/entities/ledger.js';
import type { MetadataPair } from '../../src/db/entities/metadata.js';
import { type PayIn, type Transfer, transfers } from '../../src/db/entities/operations.js';
import { hashOf, pairsOf } from '../../src/db/metadata-index.js';
import { newTransfer } from '../../src/transfers/rules.js';
import {
  CREATE_TRANSFER_EXAMPLE,
  CreateTransferBody,
  transferRequest,
} from '../../src/transfers/schemas.js';
import { type History, invoiceOf, INVOICES, PAY_IN } from './history.js';
import { type EndState, monthName } from './state.js';

/** Rows of postings, each table's in primary-key order. */

const DESCRIPTION = 'Pago de la factura del mes';

export function* transactionRows(history: History): Generator<LedgerTransaction> {
  for (let operation = 0; operation < history.length; operation += 1) {
    const isPayIn = history.isPayIn(operation);
    yield {
      id: history.id('transaction', operation),
      tenantId: history.id('tenant', 0),
      relatedType: isPayIn ? 'payin' : 'transfer',
      relatedId: history.id('operation', operation),
      description: isPayIn ? null : DESCRIPTION,
      createdAt: history.at(operation),
    };
  }
}

/** Yields the entries of one account after another, each account's in the order of posting. */
export function* entryRows(history: History): Generator<Entry> {
  const { legs, starts } = legsByAccount(history);
  for (let account = 0; account < history.accountCount; account += 1) {
    const accountId = history.accountId(account);
    const totals = eachAsset(() => 0n);
    const first = starts[account] ?? 0;
    for (let index = first; index < (starts[account + 1] ?? 0); index += 1) {
      const leg = legs[index] ?? 0;
      const operation = leg >>> 1;
      const isDebit = (leg & 1) === 0;
      const isPayIn = history.isPayIn(operation);
      const asset = history.asset(operation);
      const raw = isDebit ? -history.raw(operation) : history.raw(operation);
      totals[asset] += raw;
      const counterparty = isDebit ? history.destinations[operation] : history.sources[operation];
      yield {
        accountId,
        seq: BigInt(index - first + 1),
        id: history.id(isDebit ? 'debit' : 'credit', operation),
        transactionId: history.id('transaction', operation),
        asset,
        kind: isPayIn
          ? isDebit
            ? 'system_out'
            : 'payin_in'
          : isDebit
            ? 'transfer_out'
            : 'transfer_in',
        raw,
        totalAfter: totals[asset],
        counterpartyAccountId: history.accountId(counterparty ?? 0),
        createdAt: history.at(operation),
      };
    }
  }
}

/**
 * Returns legs sorted by account with a counting sort, which is stable. A leg is twice its operation's number, plus one
 * for the credit. The legs of an account begin at its index in `starts`.
 */
function legsByAccount({ sources, destinations, accountCount, length }: History): {
  legs: Uint32Array;
  starts: Uint32Array;
} {
  const starts = new Uint32Array(accountCount + 1);
  for (const side of [sources, destinations])
    for (const account of side) starts[account + 1] = (starts[account + 1] ?? 0) + 1;
  for (let account = 0; account < accountCount; account += 1)
    starts[account + 1] = (starts[account + 1] ?? 0) + (starts[account] ?? 0);
  const next = starts.slice();
  const legs = new Uint32Array(length * 2);
  const put = (account: number, leg: number): void => {
    const index = next[account] ?? 0;
    legs[index] = leg;
    next[account] = index + 1;
  };
  for (let operation = 0; operation < length; operation += 1) {
    put(sources[operation] ?? 0, operation * 2);
    put(destinations[operation] ?? 0, operation * 2 + 1);
  }
  return { legs, starts };
}

export function* payInRows(history: History): Generator<PayIn> {
  for (let operation = 0; operation < history.length; operation += 1)
    if (history.isPayIn(operation))
      yield {
        id: history.id('operation', operation),
        tenantId: history.id('tenant', 0),
        accountId: history.accountId(history.destinations[operation] ?? 0),
        asset: history.asset(operation),
        raw: history.raw(operation),
        reference: reference(operation),
        description: null,
        recordedBy: 'bench',
        createdAt: history.at(operation),
      };
}

export function* transferRows(history: History): Generator<Transfer> {
  for (let operation = 0; operation < history.length; operation += 1)
    if (!history.isPayIn(operation)) yield transfer(history, operation);
}

const REQUEST = transferRequest(
  CreateTransferBody.parse({
    ...CREATE_TRANSFER_EXAMPLE,
    description: DESCRIPTION,
    metadata: null,
  }),
);

function transfer(history: History, operation: number): Transfer {
  const createdAt = history.at(operation);
  const request = {
    ...REQUEST,
    sourceAccountId: history.accountId(history.sources[operation] ?? 0),
    destinationAccountId: history.accountId(history.destinations[operation] ?? 0),
    amount: { raw: history.raw(operation), asset: history.asset(operation) },
    tenantId: history.id('tenant', 0),
    transferId: history.id('operation', operation),
    metadata: history.metadata(operation),
    memberId: history.id('member', 0),
  };
  return newTransfer(request, { raw: 0n, accountId: null }, monthName(createdAt), createdAt, null);
}

/** Yields the index rows of all metadata, by the hash of their values. */
export function* metadataRows(history: History): Generator<MetadataPair> {
  if (!history.shape.hasBusyAccount) return;
  const hashes = Array.from({ length: INVOICES }, (_, n) => [n, hashOf(invoiceOf(n))] as const);
  const sorted = hashes.sort(([, one], [, other]) => Buffer.compare(one, other));
  for (const [first] of sorted)
    for (let operation = first; operation < history.length; operation += INVOICES)
      if (!history.isPayIn(operation)) yield* pairsOf(transfers, transfer(history, operation));
}

export function* monthRows(history: History, end: EndState): Generator<MonthTotal> {
  for (let account = 0; account < history.accountCount; account += 1)
    for (const asset of ASSETS)
      for (const [index, month] of end.months.entries()) {
        const used = end.monthUsed(account, asset, index);
        if (used > 0n) yield { accountId: history.accountId(account), asset, month, used };
      }
}

export function* eventRows(history: History): Generator<EventRow> {
  let sequence = 0n;
  for (let operation = 0; operation < history.length; operation += 1) {
    if (history.isPayIn(operation)) continue;
    sequence += 1n;
    const { id: resourceId, tenantId, createdAt } = transfer(history, operation);
    const id = history.id('event', operation);
    yield {
      tenantId,
      sequence,
      id,
      type: 'transfer.completed',
      resourceId,
      body: 't1',
      createdAt,
      traceparent: null,
    };
  }
}

/**
 * Coprime to every number of operations in use, and not close to a simple fraction of one, so that neighbouring keys
 * belong to operations that are far apart in time.
 */
const STRIDE = 2_654_435_761;
const KEY_SPACE = 2 ** 48;

/** Yields keys in order. Keys of transfers are random, unrelated to the order of operations. `ops/…` keys are last. */
export function* keyRows(history: History): Generator<IdempotencyKey> {
  const { length } = history;
  const spacing = Math.floor(KEY_SPACE / length);
  for (let rank = 0; rank < length; rank += 1) {
    const operation = Number((BigInt(rank) * BigInt(STRIDE)) % BigInt(length));
    if (history.isPayIn(operation)) continue;
    const digits = (rank * spacing).toString(16).padStart(12, '0');
    yield keyRow(
      history,
      operation,
      `${digits.slice(0, 8)}-${digits.slice(8)}-4000-8000-${digits}`,
    );
  }
  for (let operation = 0; operation < length; operation += 1)
    if (history.isPayIn(operation)) yield keyRow(history, operation, `ops/${reference(operation)}`);
}

function keyRow(history: History, operation: number, idempotencyKey: string): IdempotencyKey {
  const resourceId: Uuid = history.id('operation', operation);
  return {
    tenantId: history.id('tenant', 0),
    idempotencyKey,
    // As long as a real one; these keys are never used again.
    fingerprint: Buffer.from(resourceId.slice(0, 32), 'latin1'),
    fingerprintKeyId: 'bench',
    resourceType: history.sources[operation] === PAY_IN ? 'payin' : 'transfer',
    resourceId,
    refusal: null,
    createdAt: history.at(operation),
    // As long as a real one.
    commitId: Buffer.from(resourceId.slice(0, 8), 'latin1'),
  };
}

function reference(operation: number): string {
  return `bench-${operation.toString().padStart(9, '0')}`;
}
