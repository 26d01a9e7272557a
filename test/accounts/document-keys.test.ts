import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { operatorActor } from '../../src/access/audit-log.js';
import {
  declareVerification,
  DOCUMENT_NUMBERS,
  sealContext,
} from '../../src/accounts/verification.js';
import { ApiError } from '../../src/core/errors.js';
import type { Keyring, SecretKey } from '../../src/core/fingerprint.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { seal, unseal } from '../../src/core/secret-box.js';
import { verifications } from '../../src/db/entities/identity.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { type Bank, openBank } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';

const ACTOR = operatorActor('maria');

describe('document numbers', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;
  const key = (id: string): SecretKey => ({ id, secret: randomBytes(32) });
  const [older, old, current] = [key('older'), key('old'), key('current')];

  // Of its own: rotation takes every document number of the database.
  before(async () => {
    db = await ownDatabase('keys');
    const ENCRYPTION_KEYS = `old:${old.secret.toString('base64')}`;
    api = await startTestApi(db, { ENCRYPTION_KEYS });
    bank = await openBank(api);
  });
  after(() => assertLedgerSound(db.database));

  const newNumber = (): string => String(randomInt(1_000_000_000, 9_999_999_999));

  async function declared(
    keys: Keyring,
    number = newNumber(),
  ): Promise<{ id: Uuid; number: string }> {
    const { id } = await bank.account({ type: 'person', isVerified: false });
    await declare(keys, id, number);
    return { id, number };
  }

  function declare(keys: Keyring, id: Uuid, documentNumber: string) {
    const deps = { ...db.deps, encryptionKeys: keys };
    const person = { type: 'person', legalName: 'Ana Pérez', documentType: 'CC' } as const;
    const declaration = { ...person, documentNumber, country: 'CO', declaredAt: null };
    return declareVerification(deps, id, declaration, ACTOR);
  }

  async function opened(keys: Keyring, id: Uuid): Promise<string> {
    const row = await db.database.reader.find(verifications, { accountId: id });
    assert.ok(row !== undefined);
    return unseal(keys, { keyId: row.documentKeyId, bytes: row.documentNumber }, sealContext(id));
  }

  const rotate = (
    keys: Keyring,
    onProgress: (done: number, total: number) => void = () => undefined,
  ) => DOCUMENT_NUMBERS.rotate({ ...db.deps, encryptionKeys: keys, onProgress }, ACTOR);

  it('open only with their own account, complete and under their own key', async () => {
    const { id, number } = await declared([old]);
    const sealed = seal([old], number, sealContext(id));
    assert.notDeepEqual(seal([old], number, sealContext(id)).bytes, sealed.bytes);
    assert.equal(unseal([current, old], sealed, sealContext(id)), number);
    assert.throws(() => unseal([old], sealed, sealContext(newId())));
    assert.throws(() => unseal([current], sealed, sealContext(id)), { name: 'UnknownKey' });
    assert.throws(() => unseal([{ ...current, id: 'old' }], sealed, sealContext(id)));
    for (let index = 0; index < sealed.bytes.length; index += 1) {
      const bytes = Buffer.from(sealed.bytes);
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      assert.throws(() => unseal([old], { ...sealed, bytes }, sealContext(id)));
    }
  });

  it('keys rotate encrypts document numbers again with the first key, unchanged, with progress and a line in the audit log', async () => {
    const known = [await declared([older]), await declared([old]), await declared([current])];
    const before = await DOCUMENT_NUMBERS.countByKey(db.database.reader);
    const due = (before.get('older') ?? 0) + (before.get('old') ?? 0);
    const steps: [number, number][] = [];
    assert.equal(
      await rotate([current, old, older], (done, total) => steps.push([done, total])),
      due,
    );
    assert.deepEqual(steps.at(-1), [due, due]);
    assert.deepEqual(
      [...(await DOCUMENT_NUMBERS.countByKey(db.database.reader)).keys()],
      ['current'],
    );
    for (const { id, number } of known) assert.equal(await opened([current], id), number);
    const acts = await db.sql(
      "SELECT actor_claimed, subject_id, details FROM audit_log WHERE action='keys.rotate'",
    );
    assert.deepEqual(acts, [
      {
        actor_claimed: 'maria',
        subject_id: 'current',
        details: JSON.stringify({ documents: due }),
      },
    ]);
    assert.equal(await rotate([current]), 0);
  });

  it('a key rotation keeps document numbers that are declared meanwhile under the old key', async () => {
    const numbers = new Map<Uuid, string>();
    const { id: busy } = await declared([old]);
    const declaring = async (): Promise<void> => {
      for (let count = 0; count < 12; count += 1) {
        const { id, number } = await declared([old, current]);
        numbers.set(id, number);
        numbers.set(busy, newNumber());
        await declare([old, current], busy, numbers.get(busy)!);
      }
    };
    await Promise.all([declaring(), rotate([current, old]), rotate([current, old])]);
    await rotate([current, old]);
    for (const [id, number] of numbers) assert.equal(await opened([current], id), number);
  });

  it('under a missing key are not touched: the command says which key it lacks', async () => {
    const { id, number } = await declared([older]);
    await assert.rejects(
      rotate([current]),
      (failure) => failure instanceof ApiError && /lacks: older$/.test(failure.refusal.message),
    );
    assert.equal(await opened([older], id), number);
    await rotate([current, older]);
  });
});
