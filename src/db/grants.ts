import type { Reader } from './database.js';
import { isUnavailable } from './failures.js';

/** The application's rights by table: it cannot change what has been posted or logged. */
const APPEND_ONLY = 'SELECT, INSERT';
const READ_WRITE = 'SELECT, INSERT, UPDATE';

export const GRANTS: Readonly<Record<string, string>> = {
  tenants: READ_WRITE,
  tenant_quotas: READ_WRITE,
  accounts: READ_WRITE,
  known_recipients: APPEND_ONLY,
  recipient_budgets: READ_WRITE,
  fee_schedules: `${READ_WRITE}, DELETE`,
  members: READ_WRITE,
  member_roles: `${READ_WRITE}, DELETE`,
  pending_roles: `${READ_WRITE}, DELETE`,
  tokens: READ_WRITE,
  ledger_transactions: APPEND_ONLY,
  entries: APPEND_ONLY,
  balances: READ_WRITE,
  holds: READ_WRITE,
  month_totals: READ_WRITE,
  idempotency_keys: APPEND_ONLY,
  transfers: READ_WRITE,
  payouts: READ_WRITE,
  metadata_pairs: `${APPEND_ONLY}, DELETE`,
  // Deleted only with the rows of batches.
  payout_secrets: `${READ_WRITE}, DELETE`,
  // Retention removes old rows; none is ever changed.
  payout_rail_events: `${APPEND_ONLY}, DELETE`,
  payout_resolutions: READ_WRITE,
  payout_statements: READ_WRITE,
  rail_breakers: READ_WRITE,
  payout_statement_lines: APPEND_ONLY,
  payout_superseded_lines: APPEND_ONLY,
  simulated_rail_payments: READ_WRITE,
  simulated_rail_actions: APPEND_ONLY,
  pay_ins: APPEND_ONLY,
  adjustments: READ_WRITE,
  // Retention removes old rows; none is ever changed.
  events: `${APPEND_ONLY}, DELETE`,
  event_counters: READ_WRITE,
  event_heads: READ_WRITE,
  event_retention: READ_WRITE,
  event_removals: READ_WRITE,
  webhook_endpoints: READ_WRITE,
  webhook_subscriptions: `${READ_WRITE}, DELETE`,
  webhook_deliveries: `${READ_WRITE}, DELETE`,
  webhook_attempts: `${APPEND_ONLY}, DELETE`,
  reserved_aliases: `${READ_WRITE}, DELETE`,
  released_aliases: READ_WRITE,
  verifications: READ_WRITE,
  account_limits: `${READ_WRITE}, DELETE`,
  audit_log: APPEND_ONLY,
  audit_chains: READ_WRITE,
  audit_passes: `${APPEND_ONLY}, DELETE`,
  audit_findings: READ_WRITE,
  approval_policies: `${READ_WRITE}, DELETE`,
  approvals: APPEND_ONLY,
  staff: READ_WRITE,
  staff_sessions: READ_WRITE,
  staff_checks: `${APPEND_ONLY}, DELETE`,
  staff_factor_resets: READ_WRITE,
  outbox: `${READ_WRITE}, DELETE`,
  sweep_leases: READ_WRITE,
  search_words: READ_WRITE,
  daily_totals: READ_WRITE,
  daily_totals_positions: `${READ_WRITE}, DELETE`,
  bonuses: READ_WRITE,
  bonus_references: APPEND_ONLY,
  batches: READ_WRITE,
  // Deleted only when a validation starts over or ends in a rejection.
  batch_rows: `${READ_WRITE}, DELETE`,
  batch_problems: `${APPEND_ONLY}, DELETE`,
  upload_chunks: `${APPEND_ONLY}, DELETE`,
  batch_storage: READ_WRITE,
  schedules: READ_WRITE,
  statements: READ_WRITE,
  // Retention removes old rows; none is ever changed.
  generated_file_pieces: `${APPEND_ONLY}, DELETE`,
  requests: `${READ_WRITE}, DELETE`,
  restores: READ_WRITE,
  event_gaps: APPEND_ONLY,
  restore_findings: READ_WRITE,
  schema_migrations: 'SELECT',
};

/** Shows a group's primary. Granted only on a group of servers. Written as in SHOW GRANTS. */
export const MEMBERS_TABLE = '`performance_schema`.`replication_group_members`';
export const MEMBERS_RIGHT = 'SELECT';

/**
 * The application's user has rights that are not in GRANTS, with which its password could change
 * what was posted. The message contains the statements that revoke them.
 */
export class ExcessiveRights extends Error {
  override name = 'ExcessiveRights';

  constructor(statements: readonly string[]) {
    super(
      'the database user in MYSQL_URL has more rights than the service needs. Revoke them,\n' +
        statements.map((statement) => `  ${statement};\n`).join('') +
        'and run the migrations again. If that user is an administrator, name another one in MYSQL_URL instead.',
    );
  }
}

const RETRY_AFTER_MS = 5_000;

/** Throws ExcessiveRights. If MySQL is unavailable, checks later, and calls `report` on failure. */
export async function assertLeastRights(
  reader: Pick<Reader, 'query'>,
  report: (failure: unknown) => void,
): Promise<void> {
  try {
    await checkRights(reader);
  } catch (failure) {
    if (!isUnavailable(failure)) throw failure;
    setTimeout(() => void assertLeastRights(reader, report).catch(report), RETRY_AFTER_MS).unref();
  }
}

export async function checkRights(reader: Pick<Reader, 'query'>): Promise<void> {
  const [current] = await reader.query('SELECT DATABASE() AS name');
  const lines = (await reader.query('SHOW GRANTS')).flatMap((row) =>
    Object.values(row).map(String),
  );
  const excess = excessiveRights(String(current?.name), lines);
  if (excess.length > 0) throw new ExcessiveRights(excess);
}

const NAME = "(?:`(?:[^`]|``)*`|'(?:[^']|'')*'|[A-Za-z0-9_]+)";
const GRANTEE = `${NAME}(?:@${NAME})?`;
/** MariaDB puts the password's hash after the grantee; it must not reach a message. */
const RIGHTS = new RegExp(`^GRANT (.+?) ON (.+?) TO (${GRANTEE})( .*)?$`, 's');
const ROLES = new RegExp(`^GRANT (${GRANTEE}(?:, ?${GRANTEE})*) TO (${GRANTEE})( .*)?$`, 's');
/** Statements that revoke, or that select which granted role is active. */
const HARMLESS = /^(REVOKE|SET DEFAULT ROLE) /;

/** Returns the statements that revoke what these lines of SHOW GRANTS allow beyond the list. */
export function excessiveRights(database: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, rights, object, grantee = '', options = ''] = RIGHTS.exec(line) ?? [];
    if (rights !== undefined && object !== undefined) {
      const excess = unlistedRights(rights, allowedRights(database, object));
      const revoked = excess.length === 0 ? [] : [excess.join(', ')];
      if (rights !== 'PROXY' && / WITH .*\bGRANT OPTION\b/s.test(options))
        revoked.push('GRANT OPTION');
      return revoked.map((right) => `REVOKE ${right} ON ${object} FROM ${grantee}`);
    }
    const [, roles, holder = ''] = ROLES.exec(line) ?? [];
    if (roles !== undefined) return [`REVOKE ${roles} FROM ${holder}`];
    if (HARMLESS.test(line)) return [];
    throw new Error('SHOW GRANTS returned a line that cannot be interpreted');
  });
}

/** Rights accepted on tables that only a later release has. */
const LATER_TABLE_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Returns the listed rights on an object, named as in SHOW GRANTS. */
function allowedRights(database: string, object: string): readonly string[] {
  if (object === MEMBERS_TABLE) return [MEMBERS_RIGHT];
  const [start, end] = [`\`${database}\`.\``, '`'];
  if (!object.startsWith(start) || !object.endsWith(end)) return [];
  return GRANTS[object.slice(start.length, -end.length)]?.split(', ') ?? LATER_TABLE_RIGHTS;
}

function unlistedRights(rights: string, allowed: readonly string[]): string[] {
  // Columns follow a right in parentheses: SELECT (a, b).
  const each = rights.split(/, ?(?![^(]*\))/).filter((right) => right !== 'USAGE');
  return each.filter((right) => !allowed.includes(right.replace(/ \(.*$/s, '')));
}
