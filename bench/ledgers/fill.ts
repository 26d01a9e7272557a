import { systemClock } from '../../src/core/instant.js';
import { eventCounters, eventHeads, events } from '../../src/db/entities/events.js';
import {
  balances,
  entries,
  idempotencyKeys,
  ledgerTransactions,
  monthTotals,
} from '../../src/db/entities/ledger.js';
import { metadataPairs } from '../../src/db/entities/metadata.js';
import { payIns, transfers } from '../../src/db/entities/operations.js';
import { accounts, memberRoles, members, tenants } from '../../src/db/entities/parties.js';
import type { Table } from '../../src/db/table.js';
import { History } from './history.js';
import { type Loader, loadTable, openLoader } from './load-table.js';
import {
  accountRows,
  balanceRows,
  counterRows,
  headRows,
  memberRows,
  roleRows,
  tenantRows,
} from './party-rows.js';
import {
  entryRows,
  eventRows,
  keyRows,
  metadataRows,
  monthRows,
  payInRows,
  transactionRows,
  transferRows,
} from './posting-rows.js';
import type { LedgerShape } from './shape.js';
import { EndState } from './state.js';

/** Tables filled at a time: one core generates rows while another core stores them. */
const LANES = 2;

type Load = (loader: Loader) => Promise<void>;

/**
 * Fills a migrated, empty database with a ledger of this shape, with every row that the service would have written, so
 * that the auditor finds nothing.
 */
export async function fillLedger(adminUrl: string, shape: LedgerShape): Promise<void> {
  const history = new History(shape, systemClock());
  const end = new EndState(history);
  const transferred = history.sources.reduce(
    (count, _, operation) => count + (history.isPayIn(operation) ? 0 : 1),
    0,
  );
  const work: Load[] = [
    load(entries, () => entryRows(history)),
    load(events, () => eventRows(history)),
    load(transfers, () => transferRows(history)),
    load(metadataPairs, () => metadataRows(history)),
    load(idempotencyKeys, () => keyRows(history)),
    load(ledgerTransactions, () => transactionRows(history)),
    load(payIns, () => payInRows(history)),
    load(monthTotals, () => monthRows(history, end)),
    load(accounts, () => accountRows(history)),
    load(balances, () => balanceRows(history, end)),
    load(memberRoles, () => roleRows(history)),
    load(tenants, () => tenantRows(history)),
    load(members, () => memberRows(history)),
    load(eventCounters, () => counterRows(history, transferred)),
    load(eventHeads, () => headRows(history, transferred)),
  ];
  await Promise.all(Array.from({ length: LANES }, () => runLane(adminUrl, work)));
}

function load<Row>(table: Table<Row>, rows: () => Iterable<Row>): Load {
  return (loader) => loadTable(loader, table, rows());
}

/** Fills one table after another until all are filled. */
async function runLane(adminUrl: string, work: Load[]): Promise<void> {
  const loader = await openLoader(adminUrl);
  try {
    for (let next = work.shift(); next !== undefined; next = work.shift()) await next(loader);
  } finally {
    await loader.admin.end();
  }
}
