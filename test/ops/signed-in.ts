import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toRfc3339 } from '../../src/core/instant.js';
import { type Staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { databaseKey, SessionFile } from '../../src/ops/staff/session-file.js';
import { openSession } from '../../src/staff/sessions.js';
import type { TestDatabase } from '../helpers/database.js';
import { addStaff, codeOf, forgetCodes, proven, staffPartsOf } from '../helpers/staff.js';
import { type Ran, run, TEST_KEYS } from './ops.js';

/** People who are signed in on the command line, in a file of the test's own: who signed in last acts, unless --as says. */
export class SignedInPeople {
  private readonly folder = mkdtempSync(join(tmpdir(), 'sessions-'));
  readonly path = join(this.folder, 'sessions.json');
  readonly file: SessionFile;
  private readonly people = new Map<string, Staff>();

  constructor(private readonly test: Pick<TestDatabase, 'database' | 'url' | 'sql'>) {
    this.file = new SessionFile(this.path, databaseKey(test.url));
  }

  /** As after `ops login NAME`, without waiting for a code. */
  async signIn(name: string, rights: readonly StaffRight[] = STAFF_RIGHTS): Promise<Staff> {
    const person = await addStaff(this.test.database, { name, rights });
    const deps = staffPartsOf(this.test.database);
    const { token, session } = await openSession(deps, proven(person), 'ops', 'test');
    this.file.keep({ name, token, expires_at: toRfc3339(session.expiresAt) }, deps.clock());
    this.people.set(name, person);
    return person;
  }

  /** The arguments with a code of who acts: --as, else who signed in last. */
  async withCode(args: readonly string[]): Promise<readonly string[]> {
    const at = args.indexOf('--as');
    const name = at === -1 ? this.file.find()?.name : args[at + 1];
    const person = this.people.get(name ?? '');
    if (person === undefined) throw new Error(`${name} has not signed in`);
    return [...args, '--code', await this.code(person)];
  }

  /** A code that counts, however many did just now. */
  async code(person: Pick<Staff, 'id'>): Promise<string> {
    await forgetCodes(this.test.sql);
    return codeOf(person);
  }

  /** Runs it in a process of its own, with the code of whom it names, and a yes to what it asks. */
  async ops(...args: readonly string[]): Promise<Ran> {
    return run('src/ops/main.js', await this.withCode([...args, '--yes']), this.env);
  }

  /** The environment of a command for a person who is signed in. */
  get env(): { MYSQL_URL: string; ENCRYPTION_KEYS: string; OPS_SESSIONS: string } {
    return { MYSQL_URL: this.test.url, ENCRYPTION_KEYS: TEST_KEYS, OPS_SESSIONS: this.path };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
