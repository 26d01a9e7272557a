import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { A_KEY, asRequest, thingRoutes } from './routes.js';
import {
  type Answered,
  bodyOfRaw,
  call,
  callerWith,
  eventually,
  opened,
  OTHER_TENANT,
  rawHead,
  readAll,
  readUntil,
  startWorld,
  TOKEN,
  type World,
} from './support.js';
import {
  ACCOUNT,
  BOUNDARY,
  FILE,
  FORM_TYPE,
  formBody,
  type Part,
  SOURCE,
  uploadRoute,
} from './forms.js';

/** Of docs/contract.md, written out, so that a changed limit is seen. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const OTHER_TOKEN = 'svc_live_key2_secret';

const OCTETS = ['Content-Type: application/octet-stream'];

/** The head of an upload, without its body. */
function uploadHead(...lines: readonly string[]): string {
  const usual = [`Content-Type: ${FORM_TYPE}`, `Idempotency-Key: ${A_KEY}`];
  return rawHead('POST /v1/bonus_batches HTTP/1.1', ...usual, ...lines);
}

function sendTo(
  { url }: World,
  body: Buffer,
  headers: Record<string, string | null> = {},
): Promise<Answered> {
  return call(`${url}/v1/bonus_batches`, {
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, 'idempotency-key': A_KEY, ...headers },
    body,
  });
}

describe('uploads', () => {
  let world: World;
  let seen: unknown[] = [];
  let hold: Promise<void> | null = null;

  const start = (
    more: Partial<Pick<Parameters<typeof startWorld>[0], 'bodyTimeouts' | 'authenticate'>> = {},
  ): Promise<World> =>
    startWorld({
      routes: (api) => {
        thingRoutes()(api);
        uploadRoute(async (request) => {
          seen.push(request);
          await hold;
        })(api);
      },
      authenticate: (token) => {
        if (token === TOKEN) return callerWith();
        return token === OTHER_TOKEN
          ? callerWith({ tenantId: OTHER_TENANT, tokenKeyId: 'key2' })
          : null;
      },
      ...more,
    });

  before(async () => {
    world = await start();
  });
  beforeEach(() => {
    seen = [];
    hold = null;
  });
  after(() => world.server.stop(0));

  function send(body: Buffer, headers: Record<string, string | null> = {}): Promise<Answered> {
    return sendTo(world, body, headers);
  }
  const post = (...parts: Part[]): Promise<Answered> => send(formBody(parts));

  function problemsOf(answer: Answered): string[] {
    assert.equal(answer.status, 400, answer.text);
    assert.equal(seen.length, 0, 'no handler ran');
    return (answer.json().error.details?.errors ?? []).map(
      ({ code, field, reason }) => `${code} ${field} ${reason}`,
    );
  }

  function fileSeen(): { size: number; sha256: Buffer; bytes: Buffer; pieces: readonly Buffer[] } {
    const { file } = asRequest(seen.at(-1));
    assert.ok(file);
    return { ...file, bytes: Buffer.concat(file.pieces) };
  }

  it('a form with its fields and one file reaches the handler whole', async () => {
    const answer = await post(SOURCE, { name: 'description', value: 'Bonus de café ñ' }, FILE);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(asRequest(seen[0]).body, {
      source_account: ACCOUNT,
      description: 'Bonus de café ñ',
    });
    assert.equal(fileSeen().bytes.toString(), FILE.value);
    assert.deepEqual(fileSeen().sha256, createHash('sha256').update(FILE.value).digest());
  });

  it('the file of an upload may come first or last, in a part with any name', async () => {
    for (const name of ['file', 'payroll', 'template', 'ñómina', '__proto__'])
      assert.equal((await post({ ...FILE, name }, SOURCE)).status, 201, name);
  });

  it('a file of 10 MiB is accepted, and one byte more is 413', async () => {
    const most = Buffer.alloc(MAX_FILE_BYTES, 'a');
    assert.equal((await post(SOURCE, { ...FILE, value: most })).status, 201);
    assert.equal(fileSeen().size, MAX_FILE_BYTES);
    seen = [];
    for (const value of [
      Buffer.alloc(MAX_FILE_BYTES + 1, 'a'),
      Buffer.alloc(2 * MAX_FILE_BYTES, 'a'),
    ]) {
      const answer = await post(SOURCE, { ...FILE, value });
      assert.equal(answer.status, 413, answer.text);
      assert.equal(answer.json().error.code, 'body_too_large');
    }
    assert.equal(seen.length, 0);
  });

  it('a file without an announced length is refused while it is being read', async () => {
    const socket = await opened(world.port);
    const received = readAll(socket);
    socket.on('error', () => {});
    socket.write(uploadHead('Transfer-Encoding: chunked'));
    const chunk = (bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
    socket.write(chunk(formBody([SOURCE, { ...FILE, value: '' }], '').subarray(0, -2)));
    for (let sent = 0; sent < 11; sent += 1) socket.write(chunk(Buffer.alloc(1024 * 1024, 'a')));
    assert.match(await received, /^HTTP\/1\.1 413 /, 'the end never came');
    assert.equal(seen.length, 0);
  });

  it('an upload without a file is refused with advice about the missing field', async () => {
    for (const part of [
      { name: 'file', value: 'text' },
      { name: 'file', value: 'a'.repeat(9_000) },
      { name: 'file', value: Buffer.from('PK\x03\x04\xe9', 'latin1') },
      { name: 'file', value: 'a', headers: OCTETS },
      { name: 'file', value: '', headers: OCTETS, filename: '' },
    ]) {
      const answer = await post(SOURCE, part);
      assert.deepEqual(problemsOf(answer), ['missing_field file required']);
      assert.match(answer.json().error.message, /send it as a file part with a name/);
    }
  });

  const description = (value: string | Buffer, headers: readonly string[] = []): Part => ({
    ...{ name: 'description', value, headers },
  });
  const named = (name: string, value: string | Buffer = ACCOUNT): Part => ({ name, value });
  const REFUSED: readonly (readonly [problem: string, ...parts: readonly Part[]])[] = [
    ['missing_field source_account required', FILE],
    ['invalid_field description too_long', SOURCE, description('ñ'.repeat(141)), FILE],
    ['invalid_field description too_long', SOURCE, description('a'.repeat(60_000)), FILE],
    ...['__proto__', 'constructor'].map(
      (name) => [`invalid_field ${name} forbidden_name`, SOURCE, named(name), FILE] as const,
    ),
    ['invalid_field file repeated', SOURCE, FILE, FILE],
    ['invalid_field file repeated', SOURCE, FILE, { ...FILE, name: 'other' }],
    ['invalid_field source_account repeated', SOURCE, SOURCE, FILE],
    ['invalid_field source_account repeated', SOURCE, { ...FILE, name: 'source_account' }],
    ['missing_field source_account required', { ...FILE, name: 'source_account' }],
    ['invalid_field description not_a_string', SOURCE, description('a', OCTETS), FILE],
    [
      'invalid_field more not_a_string',
      ...[SOURCE, FILE, { ...named('more'), headers: OCTETS, filename: '' }],
    ],
    ...(
      [
        ['source_account[]', 'source_account repeated'],
        ['description[0]', 'description not_a_string'],
        ['a[b][c]', 'a unknown'],
        ['a[b][constructor]', 'a.b.constructor forbidden_name'],
        [`a${'[b]'.repeat(3_000)}`, 'a.b.b.b.b.b.b.b nested_too_deep'],
        ['a[4294967294]', ' malformed_multipart'],
      ] as const
    ).map(([name, problem]) => [`invalid_field ${problem}`, SOURCE, named(name), FILE] as const),
    [
      'invalid_field description not_utf8',
      ...[SOURCE, description(Buffer.from('caf\xe9', 'latin1')), FILE],
    ],
    [
      'invalid_field description not_utf8',
      ...[SOURCE, description('a', ['Content-Type: text/plain; charset=klingon']), FILE],
    ],
    ...['base64', 'Quoted-Printable', 'x-own'].flatMap(
      (encoding): [problem: string, ...parts: Part[]][] => {
        const headers = [`Content-Transfer-Encoding: ${encoding}`];
        return [
          ['invalid_field file transfer_encoding', SOURCE, { ...FILE, headers }],
          [
            'invalid_field description transfer_encoding',
            SOURCE,
            description('YQ==', headers),
            FILE,
          ],
        ];
      },
    ),
    [
      'invalid_field  malformed_multipart',
      ...[...Array.from({ length: 100 }, (_, index) => named(`f${index}`)), FILE],
    ],
    [
      'invalid_field  malformed_multipart',
      { ...FILE, headers: Array.from({ length: 3_000 }, (_, index) => `X-A${index}: b`) },
    ],
    ['missing_field file required', SOURCE],
  ];
  it('with a missing, repeated, unknown or malformed part are refused by its name', async () => {
    for (const [problem, ...parts] of REFUSED)
      assert.deepEqual(problemsOf(await post(...parts)), [problem]);
    const several = [named('source_account', 'one'), description('a\u0000b'), named('more'), FILE];
    assert.deepEqual(problemsOf(await post(...several)), [
      'invalid_field source_account not_a_uuid',
      'invalid_field description control_character',
      'invalid_field more unknown',
    ]);
  });

  it('a form of another content type, or compressed, is 415', async () => {
    for (const [name, value] of [
      ['content-type', null],
      ['content-type', 'application/json'],
      ['content-type', 'multipart/mixed; boundary=x'],
      ['content-type', 'text/csv'],
      ['content-encoding', 'gzip'],
    ] as const)
      assert.equal((await send(formBody([SOURCE, FILE]), { [name]: value })).status, 415, name);
  });

  it('a body that is not a form is 400', async () => {
    const whole = formBody([SOURCE, FILE]);
    const bad: readonly Buffer[] = [
      Buffer.from(''),
      Buffer.from('recipient,amount\n'),
      whole.subarray(0, whole.length - 10),
      whole.subarray(0, 60),
      formBody([SOURCE, FILE], ''),
      Buffer.from(whole.toString().replaceAll(BOUNDARY, 'another')),
      ...['', 'name=""; '].map((name) =>
        Buffer.from(whole.toString().replace('name="file"; ', name)),
      ),
      Buffer.from(whole.toString().replace('Content-Disposition', 'Content\x01Disposition')),
    ];
    for (const body of bad)
      assert.deepEqual(
        problemsOf(await send(body)),
        ['invalid_field  malformed_multipart'],
        body.toString().slice(0, 80),
      );
    assert.equal(
      (await send(whole, { 'content-type': 'multipart/form-data; charset=utf-8' })).status,
      400,
    );
  });

  it('a form cut at any byte is never accepted as complete', async () => {
    const whole = formBody([SOURCE, { ...FILE, value: 'abc' }]);
    // Behind the last boundary's own end nothing is missing.
    const last = whole.length - 2;
    for (let cut = 0; cut < last; cut += 5)
      assert.equal((await send(whole.subarray(0, cut))).status, 400, `${cut}`);
    assert.equal(seen.length, 0);
  });

  it('a slow upload is ended by its own limit, a slow JSON body by a shorter one', async () => {
    const hasty = await start({ bodyTimeouts: { jsonMs: 300, uploadMs: 1_000 } });
    const dripped = async (path: string, type: string): Promise<{ raw: string; ms: number }> => {
      const began = performance.now();
      const socket = await opened(hasty.port);
      let ms = 0;
      socket.on('error', () => {}).once('data', () => (ms = performance.now() - began));
      const head = [`Idempotency-Key: ${A_KEY}`, `Content-Type: ${type}`, 'Content-Length: 500'];
      socket.write(rawHead(`POST ${path} HTTP/1.1`, ...head));
      return { raw: await readUntil(socket, /\}\s*$/), ms };
    };
    const form = await dripped('/v1/bonus_batches', FORM_TYPE);
    const json = await dripped('/v1/transfers', 'application/json');
    for (const { raw } of [form, json]) {
      assert.match(raw, /^HTTP\/1\.1 400 /);
      assert.equal(bodyOfRaw(raw).error.details?.reason, 'not_received_in_time');
    }
    assert.ok(form.ms > 950 && json.ms > 250 && json.ms < form.ms, `${form.ms} ${json.ms}`);
    assert.equal(seen.length, 0);
    await hasty.server.stop(0);
  });

  it('a form that can no longer be valid is refused before it ends, and its connection is closed', async () => {
    const next = `--${BOUNDARY}\r\n`;
    const long = { name: 'description', value: 'a'.repeat(9_000) };
    const broken = { name: 'a\x01', value: '' };
    const many = Array.from({ length: 40 }, (_, index) => ({ name: `f${index}`, value: 'a' }));
    const large = { ...FILE, value: Buffer.alloc(MAX_FILE_BYTES + 1, 'a') };
    const forms: readonly (readonly [Buffer, number, string])[] = [
      [formBody(many, ''), 400, 'malformed_multipart'],
      [formBody([SOURCE, broken], ''), 400, 'malformed_multipart'],
      [formBody([FILE, broken], ''), 400, 'malformed_multipart'],
      [formBody([FILE, long], next), 400, 'too_long'],
      [formBody([{ ...long, name: 'file' }], next), 400, 'send it as a file part with a name'],
      [formBody([large], '').subarray(0, -2), 413, 'body_too_large'],
    ];
    const refused = async (
      [begun, status, reason]: (typeof forms)[number],
      rest: number,
    ): Promise<void> => {
      const socket = await opened(world.port);
      const received = readAll(socket);
      socket.on('error', () => {}).write(uploadHead(`Content-Length: ${begun.length + rest}`));
      socket.write(begun);
      const answer = await received;
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.deepEqual(answer.match(/^Connection: .*$/gm), ['Connection: close']);
      assert.ok(answer.includes(reason), answer);
    };
    await Promise.all(forms.flatMap((form) => [refused(form, 100), refused(form, 60_000)]));
    assert.equal(seen.length, 0);
  });

  it('a tenant holds at most four uploads at once; its fifth waits, and takes no slot of another tenant', async () => {
    let release = (): void => {};
    hold = new Promise((resolve) => (release = resolve));
    const running = Array.from({ length: 4 }, () => post(SOURCE, FILE));
    await eventually('four are held', () => seen.length === 4);
    const fifth = post(SOURCE, FILE);
    const other = send(formBody([SOURCE, FILE]), { authorization: `Bearer ${OTHER_TOKEN}` });
    await eventually('the other is held', () => seen.length === 5);
    release();
    for (const answer of await Promise.all([...running, fifth, other]))
      assert.equal(answer.status, 201);
    hold = null;
    assert.equal(seen.length, 6);
  });
});

describe('the rate of uploads', () => {
  it('uploads have a rate limit of their own', async () => {
    const world = await startWorld({
      routes: uploadRoute(() => {}),
      rates: { uploads: { perSecond: 1 / 6, burst: 2 } },
    });
    const send = (): Promise<Answered> => sendTo(world, formBody([SOURCE, FILE]));
    assert.equal((await send()).headers.get('ratelimit-limit'), '2');
    assert.equal((await send()).status, 201);
    const third = await send();
    assert.equal(third.status, 429);
    assert.equal(third.headers.get('retry-after'), '6');
    await world.server.stop(0);
  });
});
