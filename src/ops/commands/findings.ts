import { z } from 'zod';
import { recordAction } from '../../access/audit-log.js';
import { checkedText, MAX_REASON } from '../../core/checked-text.js';
import { parseUuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { type AuditFinding, auditFindings } from '../../db/entities/audits.js';
import { updateSql } from '../../db/statements.js';
import { transact } from '../../db/transact.js';
import { command, group, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { flag, limit, option, text } from '../inputs.js';

const EXPLANATION = `
The scheduled audit checks the whole ledger. A finding raises an alert until an operator has examined and acknowledged it.
If an acknowledged finding is found again, it raises no new alert; a finding with different figures does.`;

function findingFields(finding: AuditFinding): Record<string, string | null> {
  const {
    id,
    checkName,
    subject,
    message,
    firstFoundAt,
    lastFoundAt,
    acknowledgedAt,
    acknowledgedBy,
  } = finding;
  return {
    id,
    check: checkName,
    subject,
    message,
    first_found_at: toRfc3339(firstFoundAt),
    last_found_at: toRfc3339(lastFoundAt),
    acknowledged_at: toRfc3339(acknowledgedAt),
    acknowledged_by: acknowledgedBy,
  };
}

export const findingCommands = group('findings', 'contradictions found by the scheduled audit', [
  query({
    usage: 'list',
    summary: 'unacknowledged contradictions, newest first',
    explanation: EXPLANATION,
    examples: ['findings list', 'findings list --all --json'],
    input: z.object({ all: flag('include acknowledged ones'), limit }),
    run: async ({ database, output }, { all, limit: most }) => {
      const where = all ? '' : ' WHERE acknowledged_at IS NULL';
      const rows = await database.reader.list(
        auditFindings,
        `${where} ORDER BY last_found_at DESC, id LIMIT ${most}`,
      );
      const found = rows.map(findingFields);
      output.newest(found, most, 'Nothing was found.');
    },
  }),
  command({
    usage: 'acknowledge <id>',
    summary: 'acknowledge a finding once it has been examined; this ends its alarm',
    explanation: EXPLANATION,
    examples: [
      `findings acknowledge 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f --reason 'ticket 118: entered twice by hand'`,
    ],
    input: z.object({ id: text, reason: option('<text>', 'its cause, for the audit log') }),
    needs: 'manage',
    subject: ({ id }) => id,
    run: async (ops, { id: given, reason: said }) => {
      const id = parseUuid(given);
      if (id === null) throw new UsageError(`${given} is not the id of a finding`);
      const why = checkedText('reason', said, MAX_REASON);
      const now = ops.clock();
      const [acknowledgedAt, acknowledgedBy] = [now, ops.by().name];
      const found = await transact(ops.database, async (transaction) => {
        const finding = await transaction.find(auditFindings, { id }, { forUpdate: true });
        if (finding === undefined || finding.acknowledgedAt !== null) return finding;
        await transaction.execute(
          updateSql(auditFindings, { acknowledgedAt, acknowledgedBy }, { id }),
        );
        const act = {
          tenantId: null,
          action: 'finding.acknowledge',
          subjectType: 'finding',
          subjectId: id,
        };
        await recordAction(transaction, ops.actor(), now, {
          ...act,
          details: { reason: why, check: finding.checkName },
        });
        return { ...finding, acknowledgedAt, acknowledgedBy };
      });
      if (found === undefined) throw new OpsError(`there is no finding ${given}`);
      ops.output.one(findingFields(found));
    },
  }),
]);
