import type { Table } from '../table.js';
import * as approvals from './approvals.js';
import * as audits from './audits.js';
import * as batches from './batches.js';
import * as bonuses from './bonuses.js';
import * as events from './events.js';
import * as statements from './statements.js';
import * as identity from './identity.js';
import * as ledger from './ledger.js';
import * as metadata from './metadata.js';
import * as operations from './operations.js';
import * as outbox from './outbox.js';
import * as parties from './parties.js';
import * as payouts from './payouts.js';
import * as rails from './rails.js';
import * as requests from './requests.js';
import * as restores from './restores.js';
import * as schedules from './schedules.js';
import * as search from './search.js';
import * as staff from './staff.js';
import * as sweeps from './sweeps.js';
import * as webhooks from './webhooks.js';

const FILES = [
  approvals,
  audits,
  batches,
  bonuses,
  events,
  identity,
  ledger,
  metadata,
  operations,
  outbox,
  parties,
  payouts,
  rails,
  requests,
  restores,
  schedules,
  search,
  staff,
  statements,
  sweeps,
  webhooks,
];

/** Every table. A test compares them with what the migrations create. */
export const TABLES: readonly Table<unknown>[] = FILES.flatMap((file): readonly unknown[] =>
  Object.values(file),
)
  .filter(isTable)
  // The audit log without its chain columns; `chainedAuditLog` has all columns.
  .filter((table) => table !== identity.auditLog);

function isTable(value: unknown): value is Table<unknown> {
  return typeof value === 'object' && value !== null && 'columns' in value && 'key' in value;
}
