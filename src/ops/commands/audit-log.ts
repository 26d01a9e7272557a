import { z } from 'zod';
import { chainHeads, listAuditRows } from '../../access/audit-log.js';
import type { Uuid } from '../../core/ids.js';
import { verifyAuditLog } from '../../auditor/audit.js';
import { type Ops, query } from '../command.js';
import { OpsError } from '../failures.js';
import { findTenant } from '../finding.js';
import { flag, limit, onlyTenant, optional } from '../inputs.js';
import { counted } from '../../core/plural.js';
import { actFields } from '../presenting-service.js';

const EXPLANATION = `
The lines of each tenant form a chain, and so do the lines that belong to no tenant. A line carries a hash of its own content
and of the previous line's hash. --verify recomputes the hashes, shows the last line of each chain, and exits with 1 if a
chain is broken. Keep its output elsewhere, because a person who can rewrite the whole log can also rewrite its hashes.`;

export const auditLogCommand = query({
  usage: 'audit-log',
  summary: 'privileged actions, newest first; the application cannot change or delete a line',
  explanation: EXPLANATION,
  examples: [
    'audit-log --tenant acme',
    'audit-log --action adjustment.approve --limit 20 --json',
    'audit-log --verify',
  ],
  input: z.object({
    tenant: onlyTenant,
    subject: optional(
      '<id>',
      'only what was done to this: the id of an account, member, tenant, pay-in or adjustment, a key id, an alias',
    ),
    action: optional('<action>', 'only this, such as token.revoke'),
    limit,
    verify: flag(
      'prove that no line was changed, removed, inserted or moved, or show where one was',
    ),
  }),
  run: async (ops, { tenant, subject: subjectId, action, limit: most, verify: isProof }) => {
    const { database, output } = ops;
    const tenantId =
      tenant === undefined ? undefined : (await findTenant(database.reader, tenant)).id;
    if (isProof) return verify(ops, tenantId);
    const acts = await listAuditRows(database.reader, { tenantId, subjectId, action }, most);
    output.newest(acts.map(actFields), most, 'Nothing is recorded.', ['subject_type', 'tenant_id']);
  },
});

async function verify({ database, output }: Ops, tenantId: Uuid | undefined): Promise<void> {
  const heads = await chainHeads(database.reader, tenantId);
  const { findings } = await verifyAuditLog(database, {
    ...(tenantId === undefined ? {} : { tenantId }),
    onProgress: (done, total) => output.progress('Verifying', done, total),
  });
  if (findings.length > 0) {
    output.list(findings, '');
    throw new OpsError(`the audit log is broken in ${counted(findings.length, 'place')}`);
  }
  output.list(heads, 'Nothing is chained yet.');
  output.say('Every chain is complete and unchanged.');
}
