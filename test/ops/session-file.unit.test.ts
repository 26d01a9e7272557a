import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instant } from '../../src/core/instant.js';
import { OpsError } from '../../src/ops/failures.js';
import { databaseKey, SessionFile, type StoredSession } from '../../src/ops/staff/session-file.js';

const NOW = instant(Date.UTC(2026, 10, 22, 9));
const LATER = '2026-11-22T17:00:00.000Z';
const session = (name: string, token = `sst_${name}`, expires = LATER): StoredSession => ({
  ...{ name, token, expires_at: expires },
});
const refuses = (work: () => unknown, message: RegExp): void =>
  assert.throws(work, (failure) => failure instanceof OpsError && message.test(failure.message));

describe('the sessions of the command line', () => {
  let folder: string;
  let path: string;
  let file: SessionFile;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'session-file-'));
    path = join(folder, 'own', 'sessions.json');
    file = new SessionFile(path, 'db.example:3306/money');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('belong to a database, whichever database user opens it', () => {
    assert.equal(databaseKey('mysql://ana:secret@db.example/money'), 'db.example:3306/money');
    assert.equal(databaseKey('mysql://leo:other@db.example:3306/money'), 'db.example:3306/money');
    file.keep(session('maria'), NOW);
    assert.equal(new SessionFile(path, 'db.example:3307/money').find(), undefined);
    assert.equal(new SessionFile(path, 'db.example:3306/other').find('maria'), undefined);
    new SessionFile(path, 'db.example:3307/money').keep(session('leo'), NOW);
    assert.deepEqual(file.list(), [session('maria')]);
  });

  it('that have ended are removed at the next sign-in', () => {
    file.keep(session('maria', 'sst_old', '2026-11-22T08:59:59.000Z'), NOW);
    file.keep(session('leo'), NOW);
    assert.deepEqual(
      file.list().map(({ name }) => name),
      ['leo'],
    );
  });

  it('the sessions file is written correctly next to another process with the same process id, as in another container', () => {
    file.keep(session('maria'), NOW);
    // What it is just writing.
    const others = `${path}.${process.pid}`;
    writeFileSync(others, 'half', { mode: 0o600 });
    file.keep(session('leo'), NOW);
    assert.deepEqual(file.list(), [session('maria'), session('leo')]);
    assert.equal(readFileSync(others, 'utf8'), 'half');
  });

  it('are not used if other users can read the file or write to its folder', () => {
    file.keep(session('maria'), NOW);
    for (const mode of [0o640, 0o604, 0o660, 0o644]) {
      chmodSync(path, mode);
      refuses(() => file.find(), /other users can read .*: chmod 600/);
      refuses(() => file.assertUsable(), /other users can read/);
    }
    chmodSync(path, 0o600);
    chmodSync(join(folder, 'own'), 0o770);
    refuses(() => file.find(), /other users can write to .*: chmod 700/);
    chmodSync(join(folder, 'own'), 0o700);
    assert.equal(file.find()?.name, 'maria');
  });

  it('start over if the file is corrupted', () => {
    mkdirSync(join(folder, 'own'), { mode: 0o700 });
    for (const content of ['', '{}', '{"databases":[]}', '{"databases":{"x":[{"name":1}]}}']) {
      writeFileSync(path, content, { mode: 0o600 });
      refuses(() => file.find(), /remove it, and sign in again/);
    }
  });

  it('signing in fails if the sessions file cannot be written', () => {
    writeFileSync(join(folder, 'own'), '');
    refuses(() => file.keep(session('maria'), NOW), /cannot be (written|read): (EEXIST|ENOTDIR)/);
  });
});
