import type { AnySecrets } from '../../access/sealed-secrets.js';
import { DOCUMENT_NUMBERS } from '../../accounts/verification.js';
import { KEYRINGS, type KeyringName } from '../../core/fingerprint.js';
import type { Reader } from '../../db/database.js';
import { countByFingerprintKey } from '../fingerprint-keys.js';
import { SEALED_DESTINATIONS } from '../../payouts/service.js';
import { AUTHENTICATORS } from '../../staff/authenticator.js';
import { WEBHOOK_SECRETS } from '../../webhooks/signing.js';
import { managerCommand, query } from '../command.js';
import { text } from '../inputs.js';
import type { Output } from '../output.js';

/** Every kind of secret encrypted with ENCRYPTION_KEYS, by column of `keys list`. */
const SECRET_KINDS: Readonly<Record<string, AnySecrets>> = {
  documents: DOCUMENT_NUMBERS,
  webhook_secrets: WEBHOOK_SECRETS,
  payouts: SEALED_DESTINATIONS,
  authenticators: AUTHENTICATORS,
};

type Counts = ReadonlyMap<string, number>;

/** Returns the counts by key of fingerprints, then of each kind of secret. */
async function countUses(reader: Reader, output: Output): Promise<ReadonlyMap<string, Counts>> {
  const onProgress = output.progress.bind(output, 'Counting');
  const fingerprints: Counts = await countByFingerprintKey(reader, onProgress);
  const uses = new Map([['fingerprints', fingerprints]]);
  for (const [name, secrets] of Object.entries(SECRET_KINDS))
    uses.set(name, await secrets.countByKey(reader));
  return uses;
}

function idsOf(counts: readonly Counts[]): string[] {
  return [...new Set(counts.flatMap((count) => [...count.keys()]))].sort();
}

function sumOf(counts: readonly Counts[], keyId: string): number {
  return counts.reduce((sum, count) => sum + (count.get(keyId) ?? 0), 0);
}

function beforeUse(keyring: KeyringName, keyId: string): string[] {
  const metric = `keyring_keys{keyring="${keyring}",id="${keyId}"}`;
  return [
    `1. put ${keyId} last in ${keyring} of every process that has it`,
    `2. when ${metric} is 1 in each of them, put it first in each`,
    ...(keyring === 'CURSOR_KEYS'
      ? ['3. keep the others: a cursor made with a removed key gets 503 for ever']
      : []),
  ];
}

function afterUse(keyring: KeyringName, others: readonly string[]): string[] {
  const metric = `keyring_keys{keyring="${keyring}",use="used"}`;
  const everywhere = `it is in use: put it first wherever ${metric} still names another`;
  if (others.length === 0) return [everywhere];
  if (keyring === 'ENCRYPTION_KEYS')
    return [
      everywhere,
      `then run keys rotate; when keys list shows 0 for ${others.join(', ')}, take them out`,
    ];
  return [everywhere, `keep ${others.join(', ')} for ever: idempotency keys are kept as long`];
}

export const keyCommands = {
  list: query({
    summary:
      'how many fingerprints, document numbers, webhook secrets, bank accounts and authenticators use each key',
    examples: ['keys list'],
    run: async ({ database, output }) => {
      const uses = await countUses(database.reader, output);
      const rows = idsOf([...uses.values()]).map((keyId) => ({
        key_id: keyId,
        ...Object.fromEntries(Array.from(uses, ([name, counts]) => [name, counts.get(keyId) ?? 0])),
      }));
      output.list(rows, 'No key is used yet.');
    },
  }),
  'roll <key-id>': query({
    summary: 'the next step towards using this key for everything new',
    explanation: `
A keyring is a list of id:base64 pairs, separated by commas. The first key writes, all keys read. Two rounds of restarts:
  1. Put the new key last, in every process. Nothing is written with it yet.
  2. When every process has it (the metric keyring_keys shows it), put it first, in every process.
A process that lacks a key answers 503 to what was written with it, or postpones the work. A wrong order loses
nothing, but clients wait. Fingerprints and cursors have no second copy, so their old keys stay, behind the first.`,
    examples: ['keys roll k2'],
    input: {
      keyId: text.regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -'),
    },
    run: async ({ database, output }, { keyId }) => {
      const [fingerprints, ...sealed] = (await countUses(database.reader, output)).values();
      const counts: Record<KeyringName, readonly Counts[] | null> = {
        FINGERPRINT_KEYS: fingerprints === undefined ? [] : [fingerprints],
        // Clients hold the cursors, so they cannot be counted.
        CURSOR_KEYS: null,
        ENCRYPTION_KEYS: sealed,
      };
      const rows = KEYRINGS.map((keyring) => {
        const own = counts[keyring];
        const others = own === null ? [] : idsOf(own).filter((id) => id !== keyId);
        const usesOfKey = own === null ? null : sumOf(own, keyId);
        return {
          keyring,
          made_with_it: usesOfKey,
          made_with_others: others.map((id) => `${id}: ${sumOf(own ?? [], id)}`),
          next:
            usesOfKey === null || usesOfKey === 0
              ? beforeUse(keyring, keyId)
              : afterUse(keyring, others),
        };
      });
      output.list(rows, '');
    },
  }),
  rotate: managerCommand({
    summary:
      'encrypt all secrets again with the first of ENCRYPTION_KEYS; all other keys can be removed afterwards',
    examples: ['keys rotate'],
    run: async (ops) => {
      const { database, clock, output } = ops;
      const encryptionKeys = ops.encryptionKeys();
      const onProgress = output.progress.bind(output, 'Sealing');
      const deps = { database, clock, encryptionKeys, onProgress };
      const all = Object.values(SECRET_KINDS);
      // Checked before the first secret is encrypted again: all or none.
      for (const secrets of all) await secrets.assertKeys(database.reader, encryptionKeys);
      const done: [string, number][] = [];
      for (const secrets of all)
        done.push([secrets.auditName, await secrets.rotate(deps, ops.actor())]);
      output.one({ key_id: encryptionKeys[0].id, ...Object.fromEntries(done) });
      output.say('Remove an old key only when every process runs with the new first key.');
    },
  }),
};
