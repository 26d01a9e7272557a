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
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, openBank } from '../support/bank.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';

const ACTOR = operatorActor('maria');

describe('document numbers', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;
  const lines: string[] = [];
  const key = (id: string): SecretKey => ({ id, secret: randomBytes(32) });
  const [older, old, current] = [key('older'), key('old'), key('current')];

  // Of its own: rotation takes every document number of the database.
  before(async () => {
    const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    db = await freshDatabase(
      adminUrl,
      `money_keys_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    const ENCRYPTION_KEYS = `old:${old.secret.toString('base64')}`;
    api = await startTestApi(
      db,
      { ENCRYPTION_KEYS, LOG_LEVEL: 'debug' },
      { log: { write: (line) => void lines.push(line) } },
    );
    bank = await openBank(api);
  });
  after(async () => {
    await assertLedgerSound(db.database);
    await db.remove();
  });

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

  it('document numbers are in clear text in no table, log, error, metric or event', async () => {
    const { id } = await bank.account({ type: 'person', isVerified: false });
    const number = newNumber();
    const body = {
      type: 'person',
      legal_name: 'Zoé Planted',
      document_type: 'CC',
      document_number: number,
      country: 'CO',
    };
    const put = (changes: object) =>
      bank.request('PUT', `/v1/accounts/${id}/verification`, { body: { ...body, ...changes } });
    const said = [
      answered(await put({}), 200).text,
      answered(await put({ type: 'business' }), 400, 'invalid_field').text,
      answered(await put({ document_number: `${number}-${'9'.repeat(20)}` }), 400, 'invalid_field')
        .text,
      answered(await bank.get('/v1/events'), 200).text,
      answered(await bank.get(`/v1/accounts/${id}`), 200).text,
      await (await fetch(`${api.adminUrl}/metrics`)).text(),
      lines.join('\n'),
    ];
    const tables = await db.sql(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema=DATABASE()',
    );
    assert.ok(tables.length > 15);
    for (const { name } of tables) {
      const rows = (await db.sql(`SELECT * FROM ${String(name)}`)).map((row) =>
        Object.values(row).map((value) =>
          Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
        ),
      );
      said.push(JSON.stringify(rows));
      if (name !== 'verifications')
        assert.ok(!JSON.stringify(rows).includes('Zoé Planted'), `the name is in ${String(name)}`);
    }
    assert.ok(lines.length > 0);
    for (const text of said) {
      assert.ok(!text.includes(number), text.slice(0, 300));
      assert.ok(!text.includes(Buffer.from(number).toString('base64').slice(0, -2)));
    }
    assert.equal(await opened([old], id), number);
  });

  it('document numbers sealed twice give different bytes', () => {
    const [one, two] = [seal([old], '1020304050', 'a'), seal([old], '1020304050', 'a')];
    assert.notDeepEqual(one.bytes, two.bytes);
  });

  it('document numbers open only with their own account, complete and under their own key', async () => {
    const { id, number } = await declared([old]);
    const sealed = seal([old], number, sealContext(id));
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

  it('document numbers are resealed under the first key unchanged, with progress shown and a line in the audit log', async () => {
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

  it('document numbers are rotated without losing those declared meanwhile under the old key', async () => {
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

  it('document numbers under a missing key are not touched: the command says which key it lacks', async () => {
    const { id, number } = await declared([older]);
    await assert.rejects(
      rotate([current]),
      (failure) => failure instanceof ApiError && /lacks: older$/.test(failure.refusal.message),
    );
    assert.equal(await opened([older], id), number);
    await rotate([current, older]);
  });
});
