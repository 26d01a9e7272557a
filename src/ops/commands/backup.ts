import { z } from 'zod';
import { systemClock } from '../../core/instant.js';
import { copyMark } from '../../restores/opening.js';
import { group, localCommand } from '../command.js';
import { option, text } from '../inputs.js';

export const backupCommands = group('backup', 'the mark that closes a copy of the database', [
  localCommand({
    usage: 'mark',
    summary:
      'print the SQL that closes a copy of the database: put it behind each dump, or start a physical copy with it',
    explanation: `
A copy that is loaded with the mark posts nothing until its restore is finished (restore --help). The mark changes nothing
if a restore is already open.`,
    examples: ['backup mark', 'backup mark --database money_drill'],
    input: z.object({
      database: option(
        '<name>',
        'of the copy (default: money)',
        text.regex(/^[A-Za-z0-9_]{1,64}$/, 'must be a plain name').default('money'),
      ),
    }),
    run: (output, { database }) => {
      output.verbatim(copyMark(systemClock, database));
      return Promise.resolve();
    },
  }),
]);
