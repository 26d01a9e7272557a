import { ASCII, ascii, ASSET, ID, ID_OR_NULL, TABLE, TIME, TIME_OR_NULL } from './types.js';

export const ACCESS = [
  `CREATE TABLE accounts (
    id ${ID}, tenant_id ${ID}, type ENUM('person', 'business', 'system') NOT NULL,
    system_role ENUM('pay_in', 'pay_out', 'adjustment') NULL,
    status ENUM('active', 'frozen', 'closed') NOT NULL, name VARCHAR(120) NOT NULL,
    alias ${ascii(32)} NULL, phone ${ascii(20)} NULL, metadata TEXT NULL, verified_at ${TIME_OR_NULL},
    created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY alias (tenant_id, alias), UNIQUE KEY phone (tenant_id, phone),
    UNIQUE KEY system_role (tenant_id, system_role), KEY by_phone (phone),
    KEY created (tenant_id, created_at, id),
    CONSTRAINT accounts_system CHECK (type = 'system' = (system_role is not null))) ${TABLE}`,
  `CREATE TABLE fee_schedules (
    tenant_id ${ID}, operation ENUM('transfer', 'bonus', 'payout') NOT NULL, asset ${ASSET} NOT NULL,
    flat_raw BIGINT NOT NULL, basis_points BIGINT NOT NULL, floor_raw BIGINT NOT NULL,
    cap_raw BIGINT NULL,
    PRIMARY KEY (tenant_id, operation, asset),
    CONSTRAINT fee_schedules_signs CHECK (flat_raw >= 0 and basis_points >= 0 and floor_raw >= 0 and (cap_raw is null or cap_raw >= floor_raw))) ${TABLE}`,
  `CREATE TABLE known_recipients (
    tenant_id ${ID}, account_id ${ID},
    PRIMARY KEY (tenant_id, account_id)) ${TABLE}`,
  `CREATE TABLE member_roles (
    account_id ${ID}, member_id ${ID},
    role ENUM('viewer', 'operator', 'approver', 'admin', 'owner') NOT NULL,
    PRIMARY KEY (account_id, member_id), KEY member (member_id, account_id)) ${TABLE}`,
  `CREATE TABLE members (
    id ${ID}, tenant_id ${ID}, name VARCHAR(80) NOT NULL, is_active TINYINT(1) NULL,
    created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY member_name (tenant_id, name, is_active)) ${TABLE}`,
  `CREATE TABLE pending_roles (
    account_id ${ID}, member_id ${ID},
    role ENUM('viewer', 'operator', 'approver', 'admin', 'owner') NOT NULL, effective_at ${TIME},
    requested_channel ENUM('api', 'ops', 'temporal', 'support') NOT NULL,
    requested_by VARCHAR(120) NOT NULL,
    PRIMARY KEY (account_id, member_id), KEY due (effective_at),
    KEY pending_member (member_id, effective_at)) ${TABLE}`,
  `CREATE TABLE recipient_budgets (
    name ${ascii(60)} NOT NULL, full_at ${TIME},
    PRIMARY KEY (name)) ${TABLE}`,
  `CREATE TABLE tenants (
    id ${ID}, name VARCHAR(80) NOT NULL, network ${ascii(64)} NULL, time_zone ${ascii(64)} NOT NULL,
    fee_account_id ${ID_OR_NULL}, policy_delay_s INT NOT NULL, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY name (name), KEY network (network)) ${TABLE}`,
  `CREATE TABLE tokens (
    key_id ${ascii(32)} NOT NULL, id ${ID}, tenant_id ${ID}, member_id ${ID}, name VARCHAR(80) NULL,
    secret_hash BINARY(32) NOT NULL, scopes ${ascii(100)} NOT NULL, cidrs ${ascii(1000)} NOT NULL,
    effective_at ${TIME_OR_NULL}, expires_at ${TIME_OR_NULL}, revoked_at ${TIME_OR_NULL},
    created_at ${TIME}, created_by_key ${ascii(32)} NULL, last_used_at ${TIME_OR_NULL},
    PRIMARY KEY (key_id), UNIQUE KEY id (id), KEY member (tenant_id, member_id),
    KEY live (tenant_id, revoked_at, created_at, id),
    KEY creator (tenant_id, created_by_key)) ${TABLE}`,
  `CREATE TABLE account_limits (
    account_id ${ID}, asset ${ASSET} NOT NULL, minimum BIGINT NULL, maximum BIGINT NULL,
    month BIGINT NULL,
    PRIMARY KEY (account_id, asset),
    CONSTRAINT account_limits_signs CHECK (coalesce(minimum,0) >= 0 and coalesce(maximum,0) >= 0 and coalesce(month,0) >= 0)) ${TABLE}`,
  `CREATE TABLE audit_chains (
    chain_id ${ID}, last_sequence BIGINT NOT NULL, last_hash BINARY(32) NOT NULL,
    PRIMARY KEY (chain_id)) ${TABLE}`,
  `CREATE TABLE audit_log (
    id ${ID}, tenant_id ${ID_OR_NULL}, at ${TIME},
    channel ENUM('api', 'ops', 'temporal', 'support') NOT NULL, actor_claimed VARCHAR(120) NOT NULL,
    action ${ascii(60)} NOT NULL, subject_type ${ascii(40)} NOT NULL, subject_id VARCHAR(120) NOT NULL,
    details TEXT NOT NULL, chain_id ${ID}, sequence BIGINT NOT NULL, previous_hash BINARY(32) NOT NULL,
    hash BINARY(32) NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY chain (chain_id, sequence), KEY channel_action (channel, action, id),
    KEY subject (subject_id, id), KEY tenant (tenant_id, id),
    CONSTRAINT audit_log_chained CHECK (chain_id is null = (sequence is null) and chain_id is null = (previous_hash is null) and chain_id is null = (hash is null))) ${TABLE}`,
  `CREATE TABLE released_aliases (
    tenant_id ${ID}, alias ${ascii(32)} NOT NULL, account_id ${ID}, released_at ${TIME},
    PRIMARY KEY (tenant_id, alias)) ${TABLE}`,
  `CREATE TABLE reserved_aliases (
    alias ${ascii(32)} NOT NULL, reserved_by VARCHAR(80) NOT NULL, created_at ${TIME},
    PRIMARY KEY (alias)) ${TABLE}`,
  `CREATE TABLE tenant_quotas (
    tenant_id ${ID}, open_batches BIGINT NULL, problem_rows BIGINT NULL, unpaid_rows BIGINT NULL,
    stored_bytes BIGINT NULL, statement_rows BIGINT NULL, accounts BIGINT NULL, members BIGINT NULL,
    tokens BIGINT NULL, new_recipients BIGINT NULL,
    PRIMARY KEY (tenant_id),
    CONSTRAINT tenant_quotas_counts CHECK (open_batches >= 0 and problem_rows >= 0 and stored_bytes >= 0 and new_recipients > 0)) ${TABLE}`,
  `CREATE TABLE verifications (
    account_id ${ID}, legal_name VARCHAR(120) NOT NULL,
    document_type ENUM('CC', 'CE', 'NIT', 'PASS', 'PEP') NOT NULL,
    document_number VARBINARY(200) NOT NULL, document_key_id ${ascii(32)} NOT NULL,
    document_last4 ${ascii(4)} NOT NULL, country CHAR(2) ${ASCII} NOT NULL, declared_at ${TIME},
    updated_at ${TIME},
    PRIMARY KEY (account_id), KEY document_key (document_key_id, account_id)) ${TABLE}`,
  `CREATE TABLE staff (
    id ${ID}, name VARCHAR(80) NOT NULL, folded_name VARCHAR(240) NULL,
    kind ENUM('person', 'service') NOT NULL, rights ${ascii(100)} NOT NULL, active TINYINT(1) NOT NULL,
    factor_key_id ${ascii(40)} NULL, factor_secret VARBINARY(255) NULL, key_hash BINARY(32) NULL,
    subject_hash BINARY(32) NULL, failed_codes INT NOT NULL, locked_until ${TIME_OR_NULL},
    ops_failed_codes INT NOT NULL, ops_locked_until ${TIME_OR_NULL}, last_used_at ${TIME_OR_NULL},
    created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY folded_name (folded_name), UNIQUE KEY key_hash (key_hash),
    UNIQUE KEY name (name), UNIQUE KEY subject_hash (subject_hash),
    CONSTRAINT staff_factor CHECK (factor_secret is null = (factor_key_id is null)),
    CONSTRAINT staff_proof CHECK (kind = 'person' and key_hash is null or kind = 'service' and factor_secret is null),
    CONSTRAINT staff_subject CHECK (kind = 'person' or subject_hash is null)) ${TABLE}`,
  `CREATE TABLE staff_checks (
    purpose BINARY(32) NOT NULL, staff_id ${ID_OR_NULL}, step BIGINT NULL, refused VARCHAR(300) NULL,
    at ${TIME},
    PRIMARY KEY (purpose), UNIQUE KEY step (staff_id, step), KEY at (at),
    CONSTRAINT staff_checks_outcome CHECK (step is null = (refused is not null))) ${TABLE}`,
  `CREATE TABLE staff_factor_resets (
    id ${ID}, staff_id ${ID}, status ENUM('proposed', 'done', 'withdrawn') NOT NULL,
    reason VARCHAR(140) NOT NULL, proposed_by_id ${ID}, decided_by_id ${ID_OR_NULL}, created_at ${TIME},
    decided_at ${TIME_OR_NULL},
    PRIMARY KEY (id), KEY staff (staff_id, status)) ${TABLE}`,
  `CREATE TABLE staff_sessions (
    id ${ID}, staff_id ${ID}, channel ENUM('ops', 'support') NOT NULL, token_hash BINARY(32) NOT NULL,
    place VARCHAR(140) NOT NULL, created_at ${TIME}, last_used_at ${TIME}, expires_at ${TIME},
    rights ${ascii(100)} NULL, revoked_at ${TIME_OR_NULL},
    PRIMARY KEY (id), UNIQUE KEY token (token_hash), KEY staff (staff_id, expires_at)) ${TABLE}`,
  `CREATE TABLE requests (
    id ${ID}, tenant_id ${ID}, member_id ${ID}, operation ${ascii(40)} NOT NULL,
    method ${ascii(8)} NOT NULL, path ${ascii(200)} NOT NULL, status INT NOT NULL,
    code ${ascii(40)} NULL, resource_type ${ascii(20)} NULL, resource_id ${ID_OR_NULL},
    PRIMARY KEY (id)) ${TABLE}`,
];
