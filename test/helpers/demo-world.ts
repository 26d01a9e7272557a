import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, TEST_KEYS } from '../ops/ops.js';
import { type Json, object, text } from './bank.js';
import { outputOf } from './child-output.js';
import { ownDatabase, type TestDatabase } from './database.js';

const DEMO_CODE = fileURLToPath(new URL('../../scripts/demo-code.js', import.meta.url));

/** A database with the demo world, and a folder with its secrets as `npm start` leaves them, the tokens in `.run/demo.json`. */
export class DemoWorld {
  private constructor(
    readonly db: TestDatabase,
    readonly folder: string,
    /** The content of `.run/demo.json`. */
    readonly json: string,
  ) {}

  static async make(name: string): Promise<DemoWorld> {
    const db = await ownDatabase(name);
    const folder = mkdtempSync(join(tmpdir(), `${name}-`));
    const { code, stdout, stderr } = await run('scripts/demo-world.js', [], {
      MYSQL_URL: db.url,
      DEMO_TOKENS_FILE: join(folder, 'tokens.json'),
      DEMO_STAFF_FILE: join(folder, 'staff.json'),
      ENCRYPTION_KEYS: TEST_KEYS,
    });
    assert.equal(code, 0, stderr);
    mkdirSync(join(folder, '.run'));
    writeFileSync(join(folder, '.run/demo.json'), stdout);
    return new DemoWorld(db, folder, stdout);
  }

  /** The tenant acme. */
  get acme(): Json {
    return object(object(object(JSON.parse(this.json)).tenants).acme);
  }

  /** Of acme. */
  token(name = 'owner'): string {
    return text(object(this.acme.tokens)[name]);
  }

  /** The id of an account of acme. */
  account(name: string): string {
    return text(object(object(this.acme.accounts)[name]).id);
  }

  /** The environment of the command line and `demo:code`; NODE and DEMO_CODE are for shells. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      NODE: process.execPath,
      DEMO_CODE,
      MYSQL_URL: this.db.url,
      ENCRYPTION_KEYS: TEST_KEYS,
      DEMO_STAFF_FILE: join(this.folder, 'staff.json'),
      OPS_SESSIONS: join(this.folder, 'sessions.json'),
    };
  }

  /** Runs a script in the folder. Returns what it printed; fails unless each of its commands succeeds. */
  async shell(script: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: this.folder,
      env: { ...this.environment, ...more },
    });
    const { code, stdout, stderr } = await outputOf(child);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    return stdout;
  }

  async remove(): Promise<void> {
    rmSync(this.folder, { recursive: true });
    await this.db.remove();
  }
}
