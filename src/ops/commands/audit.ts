import {
  readChainHeads,
  listAuditRows,
  parseDetails,
  recordAction,
} from '../../access/audit-log.js';
import { audit, auditStatus, verifyAuditLog } from '../../auditor/audit.js';
import { formatAmount } from '../../core/amount.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { counted } from '../../core/collections.js';
import type { Instant } from '../../core/instant.js';
import { type AuditFinding, auditFindings } from '../../db/entities/audits.js';
import { type AuditRow, auditLog } from '../../db/entities/identity.js';
import { transfers } from '../../db/entities/operations.js';
import { accounts, members, tenants } from '../../db/entities/parties.js';
import { payouts } from '../../db/entities/payouts.js';
import { staff } from '../../db/entities/staff.js';
import type { Reader } from '../../db/database.js';
import { literal, updateSql } from '../../db/statements.js';
import { transact } from '../../db/reader.js';
import { recipientText } from '../../payouts/rules.js';
import { countFound, findByText } from '../../support/reading/search.js';
import { namesOf } from '../../support/reading/transfers.js';
import { managerCommand, type Ops, query } from '../command.js';
import { OpsError } from '../failures.js';
import { auditAction, flag, limit, onlyTenant, option, optional, reason } from '../inputs.js';
import { named } from '../lookups.js';
import { type Fields, rowFields } from '../fields.js';
import { assertRange, cursor, positionOf } from '../pages.js';
import { orSimilar, similarTo } from '../similar.js';
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
    output.list(findings, `The ledger is sound. Checked: ${rows.join(', ')}.`);
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
    'audit-log --action adjustment.approve --limit 20 --json',
    'audit-log --verify',
  ],
  input: {
    tenant: onlyTenant,
    subject: optional(
      '<id> only what was done to this: the id of a resource or its beginning, an alias, a reference, a key id',
    ),
    action: option('<action> only this, such as token.revoke', auditAction.optional()),
    actor: optional('<name> only what this person, service or member:ID did'),
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
    const { cursor: beforeId, ...filter } = more;
    assertRange(filter);
    const also = subjectId === undefined ? [] : await readSubjects(ops, subjectId);
    const where = {
      tenantId,
      subjectId: subjectId && [subjectId, ...also],
      beforeId,
      ...filter,
    };
    const entries = await listAuditRows(database.reader, where, most + 1);
    if (entries.length === 0) {
      if (more.actor !== undefined) await assertActor(database.reader, more.actor);
      if (subjectId !== undefined && also.length === 0)
        await assertSubject(database.reader, subjectId, ops.clock());
    }
    const nameOf = await subjectNames(database.reader, entries);
    const rows = entries.map((entry) => ({
      ...rowFields(auditLog, entry, 'id at channel actorClaimed:actor action'),
      by: nameOf.get(entry.actorClaimed) ?? null,
      subject: nameOf.get(entry.subjectId) ?? null,
      ...rowFields(auditLog, entry, 'subjectType subjectId tenantId'),
      details: parseDetails(entry),
    }));
    output.newest(rows, most, 'Nothing is recorded.', {
      detailsOnly: ['id', 'subject_type', 'tenant_id'],
      hasSeconds: true,
      expendable: ['channel', 'subject_id', 'by', 'subject'],
      cut: ['actor', 'by', 'subject', 'details'],
    });
  },
});

/** Throws OpsError for an actor without a line in the audit log who is neither staff nor a member. */
async function assertActor(reader: Reader, actor: string): Promise<void> {
  if ((await listAuditRows(reader, { actor }, 1)).length > 0) return;
  const names = (await reader.select(staff, {})).map(({ name }) => name);
  const id = parseUuid(actor.replace('member:', ''));
  const member = id === null ? undefined : await reader.find(members, { id });
  if (names.includes(actor) || member !== undefined) return;
  throw new OpsError(
    `"${actor}" is neither in the audit log nor among the staff${orSimilar(similarTo(actor, names), 'staff list')}`,
  );
}

/** Returns the id of the only resource that an alias, the beginning of an id or another text finds. */
async function readSubjects(
  { database: { reader }, clock, output }: Ops,
  subject: string,
): Promise<readonly Uuid[]> {
  if (parseUuid(subject) !== null) return [];
  const found = Object.values(await findByText(reader, subject, clock())).flat() as { id: Uuid }[];
  const ids = found.length === 1 ? found.map(({ id }) => id) : [];
  for (const id of ids) output.more(`${subject} is ${id}`);
  return ids;
}

/** Throws OpsError for a subject without a line in the audit log that is not the id of a resource. */
async function assertSubject(reader: Reader, subjectId: string, now: Instant): Promise<void> {
  if ((await listAuditRows(reader, { subjectId }, 1)).length > 0) return;
  const found = await findByText(reader, subjectId, now);
  if (parseUuid(subjectId) !== null && countFound(found) > 0) return;
  const ids = Object.values(found).flatMap((rows) => rows.map(({ id }): string => id));
  throw new OpsError(
    `neither the audit log nor a resource has the id "${subjectId}"${orSimilar(ids.slice(0, 5), 'search --help')}`,
  );
}

/**
 * Returns the names of the tenants, accounts and members among the subjects, and the amount and
 * recipient of transfers and payouts, by their ids, and the names of the members who acted, by
 * `member:<id>`.
 */
async function subjectNames(
  reader: Reader,
  entries: readonly AuditRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(entries.flatMap(({ subjectId }) => parseUuid(subjectId) ?? []))];
  const actors = entries.flatMap(({ actorClaimed }) => parseUuid(actorClaimed.slice(7)) ?? []);
  const [sent, paid] = await Promise.all([
    reader.select(transfers, { id: ids }),
    reader.select(payouts, { id: ids }),
  ]);
  const parties = await namesOf(reader, [...sent, ...paid]);
  const found = await Promise.all([
    reader.select(tenants, { id: ids }),
    reader.select(accounts, { id: ids }),
    reader.select(members, { id: [...new Set([...ids, ...actors])] }),
  ]);
  const recipients = [
    ...sent.map((one) => ({
      ...one,
      to: parties.account(one.destinationAccountId, one.tenantId),
    })),
    ...paid.map((one) => ({ ...one, to: recipientText(one) })),
  ];
  return new Map([
    ...recipients.map((one): [string, string] => [one.id, `${formatAmount(one)} to ${one.to}`]),
    ...found.flat().flatMap(({ id, name }): [string, string][] => [
      [id, name],
      [`member:${id}`, name],
    ]),
  ]);
}

async function verify({ database, output }: Ops, tenantId: Uuid | undefined): Promise<void> {
  const heads = await readChainHeads(database.reader, tenantId);
  const { findings } = await verifyAuditLog(database, {
    ...(tenantId && { tenantId }),
    onProgress: (done, total) => output.progress('Verifying', done, total),
  });
  if (findings.length > 0) {
    output.list(findings, '');
    throw new OpsError(`the audit log is broken in ${counted(findings.length, 'place')}`);
  }
  output.list(heads, 'Nothing is chained yet.');
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
      output.newest(rows.map(findingFields), most, 'Nothing was found.');
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
