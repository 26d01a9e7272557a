import assert from 'node:assert/strict';
import { buildCore, type Core } from '../../src/processes/build-core.js';
import { openSupport } from '../../src/processes/build-support.js';
import { readSupportConfig } from '../../src/config/config.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { type Clock, instant } from '../../src/core/instant.js';
import { auditLog, type AuditRow } from '../../src/db/entities/identity.js';
import { type Staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { createLogging } from '../../src/http/logging.js';
import { actionFields } from '../../src/support/actions/action.js';
import { formToken } from '../../src/support/forms.js';
import { stoppedAfterTests } from '../helpers/after-tests.js';
import { startTestApi, type TestApi, testEnvironment } from '../helpers/api.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { text } from '../helpers/bank.js';
import { addStaff, codeOf, forgetCodes, proven } from '../helpers/staff.js';
import { asDatabaseClock } from '../helpers/world.js';

/** The support desk in this process, on a port of its own, and people who use it as a browser does. */
export interface TestDesk {
  readonly core: Core;
  readonly url: string;
  readonly adminUrl: string;
  readonly db: TestDatabase;
  /** Adds a person with these rights, by default all. */
  hire(name: string, rights?: readonly StaffRight[]): Promise<Staff>;
  /** Adds a person and signs in. */
  staffed(name: string, rights?: readonly StaffRight[]): Promise<Visitor>;
  /** A code that is valid even if another was used in this half minute. */
  freshCode(person: Staff): Promise<string>;
  acts(subjectId: string): Promise<readonly AuditRow[]>;
  stop(): Promise<void>;
}

export async function startTestDesk(
  db: TestDatabase,
  environment: Readonly<Record<string, string>> = {},
  clock?: Clock,
  log?: (line: string) => void,
): Promise<TestDesk> {
  // Each visitor has an address of its own: sign-ins are counted by address.
  const own = { PORT: '0', ADMIN_PORT: '0', TRUSTED_PROXIES: '127.0.0.1' };
  const others = { ...own, SHUTDOWN_GRACE_MS: '2000', ...environment };
  const config = readSupportConfig(testEnvironment(db.url, others));
  const { logger } = createLogging(log === undefined ? 'silent' : 'debug', 'support', {
    write: (line) => log?.(line),
  });
  const core = buildCore(config, logger, { databaseClock: clock && asDatabaseClock(clock) });
  const opened = await openSupport(config, core);
  const url = `http://127.0.0.1:${opened.port}`;
  const hire: TestDesk['hire'] = (name, rights = STAFF_RIGHTS) =>
    addStaff(core.database, { name, rights });
  const freshCode: TestDesk['freshCode'] = async (person) => {
    await forgetCodes(db.sql);
    return codeOf(person, instant(core.clock()));
  };
  return {
    core,
    url,
    adminUrl: `http://127.0.0.1:${opened.adminPort}`,
    db,
    hire,
    freshCode,
    staffed: async (name, rights) => {
      const person = await hire(name, rights);
      const visitor = new Visitor(url, person);
      const answer = await visitor.signIn(await freshCode(person));
      assert.equal(answer.status, 303, answer.text);
      return visitor;
    },
    acts: (subjectId) => core.database.reader.select(auditLog, { subjectId }, { orderBy: ['id'] }),
    stop: stoppedAfterTests(() => opened.stop()),
  };
}

/** A desk and an API over one database, with a person who is signed in. */
export interface DeskWorld {
  readonly db: TestDatabase;
  readonly api: TestApi;
  readonly desk: TestDesk;
  readonly maria: Visitor;
}

export async function openDesk(): Promise<DeskWorld> {
  const db = await testDatabase();
  const [api, desk] = [await startTestApi(db), await startTestDesk(db)];
  return { db, api, desk, maria: await desk.staffed('maria') };
}

/** The form for an act as its page would have it, also for those to whom the page shows none. */
export function actFields({ person, cookies }: Visitor, verb: string, id: string): Fields {
  const secret = cookies.get('desk') ?? '';
  const signed = { identity: proven(person, 'support'), sessionId: newId(), secret };
  const [, act = ''] = /value="([^"]*)"/.exec(actionFields(signed, verb, id).text) ?? [];
  return { form_token: formToken(secret), act };
}

/** Copies the row that `where` names for each of these ids, with other values for some columns. */
export async function copyRows(
  db: TestDatabase,
  table: string,
  where: string,
  ids: readonly Uuid[],
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const found = await db.sql(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema='${db.name}' AND table_name='${table}'`,
  );
  const names = found.map(({ name }) => text(name));
  const values = names.map((name) => changes[name] ?? `t.${name}`);
  const hex = JSON.stringify(ids.map((id) => id.replaceAll('-', '')));
  await db.sql(
    `INSERT INTO ${table} (${names.join(',')}) SELECT ${values.join(',')} FROM ${table} t
     JOIN (SELECT n, UNHEX(hex) AS id FROM JSON_TABLE('${hex}', '$[*]'
       COLUMNS (n FOR ORDINALITY, hex CHAR(32) PATH '$')) listed) copy WHERE ${where}`,
  );
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type Fields = Readonly<Record<string, string>>;

let made = 0;

/** Acts as a browser: keeps cookies, and states for each form from which page it comes. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  private readonly address = `10.0.${Math.floor((made += 1) / 250)}.${(made % 250) + 1}`;

  constructor(
    readonly url: string,
    readonly person: Staff,
  ) {}

  async request(
    method: string,
    path: string,
    init: { body?: string; headers?: Fields } = {},
  ): Promise<Answer> {
    const cookie = Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        'x-forwarded-for': this.address,
        ...(cookie === '' ? {} : { cookie }),
        ...init.headers,
      },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = set.split(';');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (attributes.some((one) => one.trim() === 'Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  get(path: string): Promise<Answer> {
    return this.request('GET', path);
  }

  /** Exactly these fields, as a form of our own page sends them; `headers` says otherwise. */
  post(path: string, fields: Fields, headers: Fields = {}): Promise<Answer> {
    return this.request('POST', path, {
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        origin: 'null',
        ...headers,
      },
    });
  }

  async signIn(code: string, name = this.person.name): Promise<Answer> {
    const { fields } = formOf((await this.get('/sign-in')).text, '/sign-in');
    return this.post('/sign-in', { ...fields, name, code });
  }

  /** Fills in the form of the page that goes there, and sends it. */
  async act(page: string, verb: string, given: Fields): Promise<Answer> {
    return this.post(`${page}/${verb}`, { ...(await this.form(page, verb)), ...given });
  }

  /** The hidden fields of the form that goes there. */
  async form(page: string, verb: string): Promise<Fields> {
    return formOf((await this.get(page)).text, `${page}/${verb}`).fields;
  }
}

/** The hidden fields of the form with this action. Fails where the page has none. */
export function formOf(text: string, action: string): { readonly fields: Fields } {
  const found = findForm(text, action);
  assert(found !== null, `no form goes to ${action}: ${text}`);
  return found;
}

export function findForm(text: string, action: string): { readonly fields: Fields } | null {
  const at = text.indexOf(`action="${action}"`);
  if (at < 0) return null;
  const form = text.slice(at, text.indexOf('</form>', at));
  const hidden = form.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"\s*\/?>/g);
  return {
    fields: Object.fromEntries(Array.from(hidden, ([, name = '', value = '']) => [name, value])),
  };
}
