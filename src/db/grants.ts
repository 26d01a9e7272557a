/**
 * The application's rights by table. Not even its password allows changing what has been posted or
 * logged.
 */
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
  tokens: READ_WRITE,
  ledger_transactions: APPEND_ONLY,
  entries: APPEND_ONLY,
  balances: READ_WRITE,
  holds: READ_WRITE,
  month_totals: READ_WRITE,
  idempotency_keys: APPEND_ONLY,
  transfers: READ_WRITE,
  payouts: READ_WRITE,
  payout_secrets: READ_WRITE,
  // Retention removes the messages of payouts that ended long ago; none is ever changed.
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
  // Retention removes the oldest; none is ever changed.
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
  // Retention removes the oldest ended passes, and the positions of ended ones.
  audit_passes: `${APPEND_ONLY}, DELETE`,
  audit_findings: READ_WRITE,
  approval_policies: `${READ_WRITE}, DELETE`,
  approvals: APPEND_ONLY,
  staff: READ_WRITE,
  staff_sessions: READ_WRITE,
  // A code is useless after minutes; its check is removed after days.
  staff_checks: `${APPEND_ONLY}, DELETE`,
  staff_factor_resets: READ_WRITE,
  outbox: `${READ_WRITE}, DELETE`,
  sweep_leases: READ_WRITE,
  daily_totals: READ_WRITE,
  daily_totals_positions: READ_WRITE,
  bonuses: APPEND_ONLY,
  bonus_references: APPEND_ONLY,
  bonus_batches: READ_WRITE,
  // Deleted only when a validation starts over or ends in a rejection.
  bonus_batch_rows: `${READ_WRITE}, DELETE`,
  bonus_batch_problems: `${APPEND_ONLY}, DELETE`,
  upload_chunks: `${APPEND_ONLY}, DELETE`,
  bonus_batch_storage: READ_WRITE,
  statements: READ_WRITE,
  // Retention removes the oldest; none is ever changed.
  generated_file_pieces: `${APPEND_ONLY}, DELETE`,
  // Retention removes the oldest; a row is only ever rewritten unchanged.
  requests: `${READ_WRITE}, DELETE`,
  restores: READ_WRITE,
  event_gaps: APPEND_ONLY,
  restore_findings: READ_WRITE,
  schema_migrations: 'SELECT',
};

/** Which member of a group is the primary. Granted only there; written as in SHOW GRANTS. */
export const MEMBERS_TABLE = '`performance_schema`.`replication_group_members`';
export const MEMBERS_RIGHT = 'SELECT';
