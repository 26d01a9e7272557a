import type { Command } from 'commander';
import { z } from 'zod';
import { countByDocumentKey, rotateDocumentKeys } from '../../accounts/document-keys.js';
import { assertSecretKeys, countBySecretKey, rotateSecretKeys } from '../../webhooks/secret-keys.js';
import { countByPayoutKey, rotatePayoutKeys } from '../../payouts/secret-keys.js';
import { addCommand, group } from '../command.js';

export function addKeyCommands(program: Command): void {
  const own = group(program, 'keys', 'the keys that seal secrets and personal data at rest (ENCRYPTION_KEYS)');
  addCommand(own, {
    usage: 'list',
    summary: 'which keys seal how many document numbers, webhook secrets, and bank accounts of payouts',
    options: [],
    examples: ['keys list'],
    input: z.object({}),
    run: async ({ database, output }) => {
      const documents = await countByDocumentKey(database.reader);
      const secrets = await countBySecretKey(database.reader);
      const payouts = await countByPayoutKey(database.reader);
      const rows = [...new Set([...documents.keys(), ...secrets.keys(), ...payouts.keys()])].map((keyId) => ({
        key_id: keyId,
        documents: documents.get(keyId) ?? 0,
        webhook_secrets: secrets.get(keyId) ?? 0,
        payouts: payouts.get(keyId) ?? 0,
      }));
      output.list(rows, 'Nothing is sealed.');
    },
  });
  addCommand(own, {
    usage: 'rotate',
    summary: 'seal everything under the first of ENCRYPTION_KEYS; the others may be taken out after',
    options: [],
    examples: ['keys rotate'],
    input: z.object({}),
    run: async (ops) => {
      const { database, clock, output } = ops;
      const encryptionKeys = ops.encryptionKeys();
      const onProgress = (done: number, total: number): void => output.progress('Sealing', done, total);
      const parts = { database, clock, encryptionKeys, onProgress };
      await assertSecretKeys(database.reader, encryptionKeys);
      const documents = await rotateDocumentKeys(parts, ops.actor());
      const endpoints = await rotateSecretKeys(parts, ops.actor());
      const payouts = await rotatePayoutKeys(parts, ops.actor());
      output.one({ key_id: encryptionKeys[0].id, documents, webhook_endpoints: endpoints, payouts });
      output.say('Before an old key is taken out, every process must run with the new first key.');
    },
  });
}
