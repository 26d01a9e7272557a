import { z } from 'zod';
import { audit } from '../../auditor/audit.js';
import { auditStatus } from '../../auditor/scheduled-audit.js';
import { query } from '../command.js';
import { OpsError } from '../failures.js';
import { findTenant } from '../finding.js';
import { onlyTenant } from '../inputs.js';
import { counted } from '../../core/plural.js';

export const auditCommand = query({
  usage: 'audit',
  summary: "check the ledger's invariants, and print every violation; it may run while money moves",
  examples: ['audit', 'audit --tenant acme --json'],
  input: z.object({ tenant: onlyTenant }),
  run: async ({ database, output }, { tenant }) => {
    const tenantId =
      tenant === undefined ? undefined : (await findTenant(database.reader, tenant)).id;
    const { findings, checked } = await audit(database, {
      ...(tenantId === undefined ? {} : { tenantId }),
      onProgress: (done, total) => output.progress('Auditing', done, total),
    });
    const rows = Object.entries(checked).map(
      ([name, count]) => `${count} ${name.replaceAll('_', ' ')}`,
    );
    output.list(findings, `The ledger is sound. Looked at: ${rows.join(', ')}.`);
    const { open } = await auditStatus(database.reader);
    if (open > 0)
      output.say(
        `${counted(open, 'finding')} of the scheduled audit not acknowledged yet: findings list`,
      );
    if (findings.length > 0)
      throw new OpsError(`the audit found ${counted(findings.length, 'contradiction')}`);
  },
});
