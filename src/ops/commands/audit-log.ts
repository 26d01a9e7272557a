import type { Command } from 'commander';
import { z } from 'zod';
import { listActs } from '../../access/audit-log.js';
import { addCommand } from '../command.js';
import { findTenant } from '../finding.js';
import { limit, optionalText } from '../inputs.js';
import { actFields } from '../presenting.js';

export function addAuditLogCommand(program: Command): void {
  addCommand(program, {
    usage: 'audit-log',
    summary: 'who did what that needs a privilege, newest first; nobody can change or delete a line of it',
    options: [
      ['--tenant <tenant>', 'only what belongs to this tenant (id or name)'],
      [
        '--subject <id>',
        'only what was done to this: the id of an account, member, tenant, pay-in or adjustment, a key id, an alias',
      ],
      ['--action <action>', 'only this, such as token.revoke'],
      ['--limit <count>', 'how many at most (default: 100)'],
    ],
    examples: ['audit-log --tenant acme', 'audit-log --action adjustment.approve --limit 20 --json'],
    input: z.object({ tenant: optionalText, subject: optionalText, action: optionalText, limit }),
    run: async ({ database, output }, { tenant, subject: subjectId, action, limit: most }) => {
      const tenantId = tenant === undefined ? undefined : (await findTenant(database.reader, tenant)).id;
      const acts = await listActs(database.reader, { tenantId, subjectId, action }, most);
      output.list(acts.map(actFields), 'Nothing is recorded.');
      if (acts.length === most) output.say(`The newest ${most}; --limit shows more.`);
    },
  });
}
