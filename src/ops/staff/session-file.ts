import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { mysqlAddress } from '../../db/servers.js';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import { foldedName } from '../../staff/rules.js';
import { OpsError } from '../failures.js';
import { PROGRAM } from '../help.js';

const session = z.object({ name: z.string(), token: z.string(), expires_at: z.string() });
/** Sessions by database (host:port/name); the last in a list is the latest. */
const content = z.object({ databases: z.record(z.string(), z.array(session)) });

export type StoredSession = z.infer<typeof session>;

export const SESSION_FILE = join(homedir(), '.config', 'money-movement', 'sessions.json');

/** Returns the database's key in the file, without user and password. */
export function databaseKey(mysqlUrl: string): string {
  const { servers, database } = mysqlAddress(mysqlUrl);
  return `${servers.map(({ host, port }) => `${host}:${port}`).join(',')}/${database}`;
}

const OTHER_USERS = 0o077;
const OTHER_USERS_WRITE = 0o022;
const STICKY = 0o1000;

/** Sessions of one database. Methods throw OpsError if the file is unsafe or unusable. */
export class SessionFile {
  constructor(
    private readonly path: string,
    private readonly database: string,
  ) {}

  list(): readonly StoredSession[] {
    return this.read()[this.database] ?? [];
  }

  /** Returns the session of this name, or of the person who signed in last. */
  find(name?: string): StoredSession | undefined {
    return this.list().findLast(
      (one) => name === undefined || foldedName(one.name) === foldedName(name),
    );
  }

  keep(kept: StoredSession, now: Instant): void {
    this.change((sessions) => [
      ...without(sessions, kept.name).filter((one) => one.expires_at > toRfc3339(now)),
      kept,
    ]);
  }

  drop(name: string): void {
    this.change((sessions) => without(sessions, name));
  }

  /** Called before a code is used up for a session that could not be stored. */
  assertUsable(): void {
    this.change((sessions) => sessions);
  }

  private change(to: (sessions: readonly StoredSession[]) => readonly StoredSession[]): void {
    const before = this.read();
    const databases = { ...before, [this.database]: to(before[this.database] ?? []) };
    // Not named by the process's number, because containers with one volume all have the same.
    const draft = `${this.path}.${randomUUID()}`;
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      this.assertOwnFolder();
      writeFileSync(draft, `${JSON.stringify({ databases }, null, 2)}\n`, {
        mode: 0o600,
        flag: 'wx',
      });
      renameSync(draft, this.path);
    } catch (failure) {
      if (existsSync(draft)) rmSync(draft);
      throw this.failed('written', failure);
    }
  }

  private read(): z.infer<typeof content>['databases'] {
    try {
      const found = statSync(this.path, { throwIfNoEntry: false });
      if (found === undefined) return {};
      this.assertOwnFolder();
      if ((found.mode & OTHER_USERS) !== 0)
        throw new OpsError(
          `other users can read ${this.path}: chmod 600, then ${PROGRAM} logout --everywhere`,
        );
      if (found.uid !== process.getuid?.())
        throw new OpsError(`${this.path} belongs to another user`);
      return content.parse(JSON.parse(readFileSync(this.path, 'utf8'))).databases;
    } catch (failure) {
      if (!(failure instanceof SyntaxError || failure instanceof z.ZodError))
        throw this.failed('read', failure);
      throw new OpsError(`${this.path} is not a valid session file: remove it, and sign in again`);
    }
  }

  private failed(verb: 'read' | 'written', failure: unknown): OpsError {
    if (failure instanceof OpsError) return failure;
    const code = failure instanceof Error && 'code' in failure ? failure.code : failure;
    return new OpsError(`${this.path} cannot be ${verb}: ${String(code)}`);
  }

  /** Other users with write access could replace the file with their own. */
  private assertOwnFolder(): void {
    const folder = dirname(this.path);
    const { mode } = statSync(folder);
    if ((mode & OTHER_USERS_WRITE) !== 0 && (mode & STICKY) === 0)
      throw new OpsError(`other users can write to ${folder}: chmod 700, and sign in again`);
  }
}

function without(sessions: readonly StoredSession[], name: string): readonly StoredSession[] {
  return sessions.filter((one) => foldedName(one.name) !== foldedName(name));
}
