import {
  readChainHeads,
  listAuditRows,
  parseDetails,
  recordAction,
} from '../../access/audit-log.js';
import { audit, auditStatus, verifyAuditLog } from '../../auditor/audit.js';
import type { Uuid } from '../../core/ids.js';
import { counted } from '../../core/collections.js';
import { type AuditFinding, auditFindings } from '../../db/entities/audits.js';
import { auditLog } from '../../db/entities/identity.js';
import { literal, updateSql } from '../../db/statements.js';
import { transact } from '../../db/reader.js';
import {
  assertActor,
  assertSubject,
  findActors,
  findSubjects,
  subjectNames,
} from '../audit-subjects.js';
import { managerCommand, type Ops, query } from '../command.js';
import { OpsError } from '../failures.js';
import { auditActions, flag, limit, onlyTenant, option, optional, reason } from '../inputs.js';
import { named } from '../lookups.js';
import { type Fields, rowFields } from '../fields.js';
import { assertRange, cursor, positionOf } from '../pages.js';
import { time, untilTime } from '../times.js';

export const auditCommand = query({
  summary: "check the ledger's invariants, and print every violation; it may run while money moves",
  examples: ['audit', 'audit --tenant acme --json'],
  input: { tenant: onlyTenant },
  run: async ({ database, output }, { tenant }) => {
    const { findings, checked } = await audit(database, {
      ...(tenant && { tenantId: tenant.id }),
      onProgress: (done, total) => output.progress('Auditing', done, total),
    });
    const rows = Object.entries(checked).map(
      ([name, count]) => `${name.replaceAll('_', ' ')} ${count}`,
    );
    output.list(findings, `The ledger is sound. Checked: ${rows.join(', ')}.`, { isWhole: true });
    const { open } = await auditStatus(database.reader);
    if (open > 0)
      output.say(
        `${counted(open, 'finding')} of the scheduled audit not acknowledged yet: findings list`,
      );
    if (findings.length > 0)
      throw new OpsError(`the audit found ${counted(findings.length, 'contradiction')}`);
  },
});

export const auditLogCommand = query({
  summary: 'privileged actions, newest first; the application cannot change or delete a line',
  explanation: `
The lines of each tenant form a chain, and so do the lines that belong to no tenant. A line carries a hash of its own content
and of the previous line's hash. --verify recomputes the hashes, shows the last line of each chain, and exits with 1 if a
chain is broken. Keep its output elsewhere, because a person who can rewrite the whole log can also rewrite its hashes.`,
  examples: [
    'audit-log --tenant acme',
    "audit-log --action 'adjustment.*' --limit 20 --json",
    'audit-log --verify',
  ],
  input: {
    tenant: onlyTenant,
    subject: optional(
      '<id> only what was done to this: the id of a resource or its beginning, an alias, a reference, a key id; of an account also its pay-ins and adjustments',
    ),
    action: option(
      "<action> only this, such as token.revoke, or of a kind: 'payout.*'",
      auditActions.optional(),
    ),
    actor: optional(
      '<name> only what this member of a tenant, person or service did; or member:ID, staff:NAME',
    ),
    since: option('<time> only what was done from this time on', time.optional()),
    until: untilTime('was done'),
    cursor,
    limit,
    verify: flag(
      'prove that no line was changed, removed, inserted or moved, or show where one was',
    ),
  },
  run: async (
    ops,
    { tenant, subject: subjectId, limit: most, verify: isVerification, ...more },
  ) => {
    const { database, output } = ops;
    const tenantId = tenant?.id;
    if (isVerification) return verify(ops, tenantId);
    const { cursor, ...filter } = more;
    const beforeId = (await positionOf(database.reader, auditLog, {}, cursor))?.id;
    assertRange(filter);
    const also = subjectId === undefined ? [] : await findSubjects(ops, subjectId, tenantId);
    const { actor: named } = filter;
    const actors = named === undefined ? [] : await findActors(database.reader, named, tenantId);
    const where = {
      tenantId,
      beforeId,
      ...filter,
      subjectId: subjectId && [subjectId, ...also],
      actor: named && actors,
    };
    const entries = await listAuditRows(database.reader, where, most + 1);
    if (entries.length === 0) {
      if (named !== undefined && actors.includes(named)) await assertActor(database.reader, named);
      if (subjectId !== undefined && also.length === 0)
        await assertSubject(database.reader, subjectId, ops.clock());
    }
    const nameOf = await subjectNames(database.reader, entries);
    const rows = entries.map((entry) => ({
      ...rowFields(auditLog, entry, 'id at'),
      by: nameOf.get(entry.actorClaimed) ?? entry.actorClaimed,
      ...rowFields(auditLog, entry, 'action'),
      subject: nameOf.get(entry.subjectId) ?? null,
      details: parseDetails(entry),
      ...rowFields(auditLog, entry, 'subjectId channel actorClaimed:actor subjectType tenantId'),
    }));
    output.newest(rows, most, 'Nothing is recorded.', {
      detailsOnly: ['id', 'actor', 'subject_type', 'tenant_id'],
      hasSeconds: true,
      wraps: 'details',
    });
  },
});

async function verify({ database, output }: Ops, tenantId: Uuid | undefined): Promise<void> {
  const heads = await readChainHeads(database.reader, tenantId);
  const { findings } = await verifyAuditLog(database, {
    ...(tenantId && { tenantId }),
    onProgress: (done, total) => output.progress('Verifying', done, total),
  });
  if (findings.length > 0) {
    output.list(findings, '', { isWhole: true });
    throw new OpsError(`the audit log is broken in ${counted(findings.length, 'place')}`);
  }
  output.list(heads, 'Nothing is chained yet.', { isWhole: true });
  output.say('Every chain is complete and unchanged.');
}

const FINDINGS = `
The scheduled audit checks the whole ledger. A finding raises an alert until an operator has examined and acknowledged it.
If an acknowledged finding is found again, it raises no new alert; a finding with different figures does.`;

function findingFields(finding: AuditFinding): Fields {
  return {
    id: finding.id,
    check: finding.checkName,
    ...rowFields(auditFindings, finding, 'subject message firstFoundAt lastFoundAt'),
    ...rowFields(auditFindings, finding, 'acknowledgedAt acknowledgedBy'),
  };
}

export const findingCommands = {
  list: query({
    summary: 'unacknowledged contradictions, newest first',
    explanation: FINDINGS,
    examples: ['findings list', 'findings list --all --json'],
    input: { all: flag('include acknowledged ones'), cursor, limit },
    run: async ({ database: { reader }, output }, { all, cursor, limit: most }) => {
      const last = await positionOf(reader, auditFindings, {}, cursor);
      const at = last && literal(auditFindings, 'lastFoundAt', last.lastFoundAt);
      const older =
        last &&
        `(last_found_at<${at} OR last_found_at=${at} AND id>${literal(auditFindings, 'id', last.id)})`;
      const conditions = [all ? null : 'acknowledged_at IS NULL', older].filter(
        (one) => one !== null,
      );
      const rows = await reader.list(
        auditFindings,
        `WHERE ${['TRUE', ...conditions].join(' AND ')} ORDER BY last_found_at DESC, id LIMIT ${most + 1}`,
      );
      output.newest(rows.map(findingFields), most, 'Nothing was found.', { isWhole: true });
    },
  }),
  'acknowledge <id>': managerCommand({
    summary: 'acknowledge a finding once it has been examined; this ends its alarm',
    explanation: FINDINGS,
    examples: [
      `findings acknowledge 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f --reason 'ticket 118: entered twice by hand'`,
    ],
    input: { id: named.finding, reason: reason() },
    run: async (ops, { id: { id }, reason }) => {
      const now = ops.clock();
      const acknowledged = { acknowledgedAt: now, acknowledgedBy: ops.actor().name };
      const found = await transact(ops.database, async (transaction) => {
        const finding = await transaction.find(auditFindings, { id }, { forUpdate: true });
        if (finding === undefined || finding.acknowledgedAt !== null) return finding;
        await transaction.execute(updateSql(auditFindings, acknowledged, { id }));
        await recordAction(transaction, ops.actor(), now, {
          tenantId: null,
          action: 'finding.acknowledge',
          subjectType: 'finding',
          subjectId: id,
          details: { reason, check: finding.checkName },
        });
        return { ...finding, ...acknowledged };
      });
      if (found === undefined) throw new OpsError(`there is no finding ${id}`);
      ops.output.one(findingFields(found));
    },
  }),
};
