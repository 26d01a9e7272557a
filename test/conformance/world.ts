import assert from 'node:assert/strict';
import { run, type Ran } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { request, startTestApi, type TestAnswer, type TestApi } from '../helpers/api.js';
import { testDatabase, type TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import { temporalEnvironment, testTemporal, until } from '../helpers/temporal.js';
import type { Recorder } from './recorder.js';

type Json = Record<string, unknown>;

/** The service as its operators and tenants see it: the command line, the API and a webhook receiver. */
export class World {
  /** Values that later commands name, such as `{acme}`. */
  readonly known = new Map<string, string>();

  private constructor(
    readonly db: TestDatabase,
    readonly receiver: HttpReceiver,
    private readonly api: TestApi,
    private readonly worker: TestWorker,
    private readonly people: SignedInPeople,
  ) {}

  static async open(): Promise<World> {
    const db = await testDatabase();
    const temporal = await testTemporal();
    const people = new SignedInPeople(db);
    for (const name of ['leo', 'maria']) await people.signIn(name);
    const receiver = await new HttpReceiver().open();
    const environment = { BASE_URL: 'https://api.example.com' };
    const [api, worker] = await Promise.all([
      startTestApi(db, { ...temporalEnvironment(temporal), ...environment }, { receiver: 'real' }),
      startTestWorker(db, temporal, { environment }),
    ]);
    return new World(db, receiver, api, worker, people);
  }

  async close(): Promise<void> {
    await this.worker.stop();
    await this.api.stop();
    await this.receiver.close();
    this.people.remove();
  }

  /** Runs a line such as `acme = tenants add acme`; `code:` in front adds the code of the acting person. */
  async command(recorder: Recorder, line: string, ...more: readonly string[]): Promise<Ran> {
    const { name, code, text } = /^(?:(?<name>\w+) = )?(?<code>code: )?(?<text>.*)$/.exec(line)!
      .groups as { name?: string; code?: string; text: string };
    const filled = text.replaceAll(/\{(\w+)\}/g, (_, known: string) => this.known.get(known) ?? '');
    const words = (filled.match(/'[^']*'|\S+/g) ?? []).map((word) =>
      word.replace(/^'(.*)'$/, '$1'),
    );
    const args = [...words, ...more];
    const ran = await run(
      'src/ops/main.js',
      code === undefined ? args : await this.people.withCode(args),
      this.people.env,
    );
    const { stdout, stderr } = ran;
    recorder.add(`$ ops ${[filled, ...more].join(' ')}`, `${stdout}${stderr}→ ${ran.code}`);
    const made = /svc_live_\w{57}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(stdout)?.[0];
    if (name !== undefined)
      this.known.set(name, made ?? assert.fail(`${line}: ${stdout}${stderr}`));
    return ran;
  }

  async post(token: string, path: string, body?: Json | FormData): Promise<Json> {
    const sent = body instanceof FormData ? { form: body } : { body };
    const answer = await request(this.api.baseUrl, 'POST', path, {
      token: this.known.get(token)!,
      ...sent,
    });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  }

  get(path: string): Promise<TestAnswer> {
    return request(this.api.baseUrl, 'GET', path, { token: this.known.get('token')! });
  }

  /** Resolves with the resource once it has this status. */
  async becomes(path: string, status: string): Promise<Json> {
    const read = async (): Promise<Json | false> => {
      const { json } = await this.get(path);
      return json.status === status && json;
    };
    return until(`${path} is ${status}`, read);
  }
}
