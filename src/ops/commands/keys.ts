import type { Command } from 'commander';
import { z } from 'zod';
import { countByDocumentKey, rotateDocumentKeys } from '../../accounts/document-keys.js';
import { addCommand, group } from '../command.js';

export function addKeyCommands(program: Command): void {
  const own = group(program, 'keys', 'the keys that seal document numbers at rest (ENCRYPTION_KEYS)');
  addCommand(own, {
    usage: 'list',
    summary: 'which keys seal how many document numbers',
    options: [],
    examples: ['keys list'],
    input: z.object({}),
    run: async ({ database, output }) => {
      const counted = [...(await countByDocumentKey(database.reader))];
      const rows = counted.map(([keyId, documents]) => ({ key_id: keyId, documents }));
      output.list(rows, 'No document number is stored.');
    },
  });
  addCommand(own, {
    usage: 'rotate',
    summary: 'seal every document number under the first of ENCRYPTION_KEYS; the others may be taken out after',
    options: [],
    examples: ['keys rotate'],
    input: z.object({}),
    run: async (ops) => {
      const { database, clock, output } = ops;
      const encryptionKeys = ops.encryptionKeys();
      const onProgress = (done: number, total: number): void => output.progress('Sealing', done, total);
      const documents = await rotateDocumentKeys({ database, clock, encryptionKeys, onProgress }, ops.actor());
      output.one({ key_id: encryptionKeys[0].id, documents });
      output.say('Before an old key is taken out, every API process must run with the new first key.');
    },
  });
}
