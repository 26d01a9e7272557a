import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../../src/core/errors.js';
import { UploadSlot } from '../../src/http/upload-slots.js';
import { FILE_PIECE_BYTES, MAX_FILE_BYTES, readUpload } from '../../src/http/upload.js';
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

  it('the file comes first or last, and its part has any name', async () => {
    for (const name of ['file', 'payroll', 'template', 'ñómina', '__proto__'])
      assert.equal((await post({ ...FILE, name }, SOURCE)).status, 201, name);
  });

  it('what fetch sends is always accepted: the end of the request may come before that of the form', async () => {
    const form = new FormData();
    form.set('source_account', ACCOUNT);
    form.set('file', new Blob([randomBytes(3_000)]), 'ñómina "1".xlsx');
    for (let round = 0; round < 30; round += 1) {
      const response = await fetch(`${world.url}/v1/bonus_batches`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'idempotency-key': A_KEY },
        body: form,
      });
      assert.equal(response.status, 201, await response.text());
      assert.equal(fileSeen().size, 3_000);
    }
  });

  it('the pieces of the file are of one size but the last, to the byte', async () => {
    for (const size of [0, 1, FILE_PIECE_BYTES - 1, FILE_PIECE_BYTES, 2 * FILE_PIECE_BYTES + 5]) {
      const bytes = randomBytes(size);
      assert.equal((await post(SOURCE, { ...FILE, value: bytes })).status, 201);
      const file = fileSeen();
      assert.equal(file.size, size);
      assert.ok(file.bytes.equals(bytes));
      assert.deepEqual(file.sha256, createHash('sha256').update(bytes).digest());
      assert.deepEqual(
        file.pieces.slice(0, -1).map(({ length }) => length),
        Array.from(
          { length: Math.max(0, Math.ceil(size / FILE_PIECE_BYTES) - 1) },
          () => FILE_PIECE_BYTES,
        ),
      );
    }
  });

  it('10 MiB are taken, one byte more is 413', async () => {
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

  it('a body without an end of its part headers is 413', async () => {
    assert.equal((await send(Buffer.alloc(12 * 1024 * 1024, '\r\n--'))).status, 413);
  });

  it('uploads without a file it is the file that is missing, with advice', async () => {
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
  const REFUSED: readonly (readonly [
    what: string,
    parts: readonly Part[],
    ...problems: string[],
  ])[] = [
    ['a missing field', [FILE], 'missing_field source_account required'],
    [
      'several wrong fields',
      [
        ...[{ name: 'source_account', value: 'one' }, description('a\u0000b')],
        ...[{ name: 'more', value: '1' }, FILE],
      ],
      'invalid_field source_account not_a_uuid',
      'invalid_field description control_character',
      'invalid_field more unknown',
    ],
    [
      'a long text',
      [SOURCE, description('ñ'.repeat(141)), FILE],
      'invalid_field description too_long',
    ],
    [
      'a longer text',
      [SOURCE, description('a'.repeat(9_000)), FILE],
      'invalid_field description too_long',
    ],
    [
      'the longest text',
      [SOURCE, description('a'.repeat(60_000)), FILE],
      'invalid_field description too_long',
    ],
    ...['__proto__', 'constructor'].map(
      (name) =>
        [
          name,
          [SOURCE, { name, value: '1' }, FILE],
          `invalid_field ${name} forbidden_name`,
        ] as const,
    ),
    ['a second file', [SOURCE, FILE, FILE], 'invalid_field file repeated'],
    [
      'a second file of another name',
      [SOURCE, FILE, { ...FILE, name: 'other' }],
      'invalid_field file repeated',
    ],
    ['a field given twice', [SOURCE, SOURCE, FILE], 'invalid_field source_account repeated'],
    [
      'a field and a file of one name',
      [SOURCE, { ...FILE, name: 'source_account' }],
      'invalid_field source_account repeated',
    ],
    [
      'a file in place of a field',
      [{ ...FILE, name: 'source_account' }],
      'missing_field source_account required',
    ],
    [
      'a part without a file name beside a file',
      [SOURCE, description('a', OCTETS), FILE],
      'invalid_field description not_a_string',
    ],
    [
      'a part with an empty file name beside a file',
      [SOURCE, FILE, { name: 'more', value: 'a', headers: OCTETS, filename: '' }],
      'invalid_field more not_a_string',
    ],
    ...[
      ['source_account[]', 'source_account repeated'],
      ['description[]', 'description not_a_string'],
      ['description[0]', 'description not_a_string'],
      ['description[a]', 'description not_a_string'],
      ['a[b][c]', 'a unknown'],
      ['a[b][constructor]', 'a.b.constructor forbidden_name'],
      [`a${'[b]'.repeat(3_000)}`, 'a.b.b.b.b.b.b.b nested_too_deep'],
      ['a[4294967294]', ' malformed_multipart'],
      ['a[]b', 'a[]b unknown'],
    ].map(
      ([name = '', problem = '']) =>
        [
          `a field ${name.slice(0, 20)}`,
          [SOURCE, { name, value: ACCOUNT }, FILE],
          `invalid_field ${problem}`,
        ] as const,
    ),
    [
      'a field in Latin-1',
      [SOURCE, description(Buffer.from('caf\xe9', 'latin1')), FILE],
      'invalid_field description not_utf8',
    ],
    [
      'a field in an unknown encoding',
      [SOURCE, description('a', ['Content-Type: text/plain; charset=klingon']), FILE],
      'invalid_field description not_utf8',
    ],
    [
      'many parts',
      [...Array.from({ length: 100 }, (_, index) => ({ name: `f${index}`, value: 'a' })), FILE],
      'invalid_field  malformed_multipart',
    ],
    [
      'endless part headers',
      [{ ...FILE, headers: Array.from({ length: 3_000 }, (_, index) => `X-A${index}: b`) }],
      'invalid_field  malformed_multipart',
    ],
    ['no file', [SOURCE], 'missing_field file required'],
    [
      'a text in place of the file',
      [SOURCE, { name: 'payroll', value: 'a', headers: OCTETS }],
      'missing_field file required',
      'invalid_field payroll not_a_string',
    ],
  ];
  for (const [what, parts, ...problems] of REFUSED)
    it(`uploads with ${what} are refused, with all problems at once`, async () => {
      assert.deepEqual(problemsOf(await post(...parts)), problems);
    });

  it('a field may name UTF-8 as its encoding', async () => {
    const named = description('café', ['Content-Type: text/plain; charset=UTF-8']);
    assert.equal((await post(SOURCE, named, FILE)).status, 201);
  });

  for (const [name, value] of [
    ['content-type', null],
    ['content-type', 'application/json'],
    ['content-type', 'multipart/mixed; boundary=x'],
    ['content-type', 'application/x-www-form-urlencoded'],
    ['content-type', 'text/csv'],
    ['content-encoding', 'gzip'],
  ] as const)
    it(`a form with the ${name} ${value} is 415`, async () => {
      assert.equal((await send(formBody([SOURCE, FILE]), { [name]: value })).status, 415);
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

  it('a form cut at any byte is never taken for a whole one', async () => {
    const whole = formBody([SOURCE, { ...FILE, value: 'abc' }]);
    // Behind the last boundary's own end nothing is missing.
    const last = whole.length - 2;
    for (let cut = 0; cut < last; cut += 1)
      assert.equal((await send(whole.subarray(0, cut))).status, 400, `${cut}`);
    assert.equal(seen.length, 0);
  });

  it('a client that goes away midway leaves nothing behind', async () => {
    const socket = await opened(world.port);
    const whole = formBody([SOURCE, FILE]);
    socket.write(uploadHead(`Content-Length: ${whole.length}`));
    socket.write(whole.subarray(0, whole.length - 20));
    await eventually('it is being read', () => world.server.inFlight() === 1);
    socket.destroy();
    await eventually('it is over', () => world.server.inFlight() === 0);
    assert.equal(seen.length, 0);
  });

  it('a client that goes away while its token is looked up keeps no slot from the next upload of its tenant', async () => {
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    let lookUps = 0;
    const slow = await start({
      authenticate: async () => {
        if ((lookUps += 1) <= 4) await asked;
        return callerWith();
      },
    });
    const whole = formBody([SOURCE, FILE]);
    const sockets = await Promise.all(Array.from({ length: 4 }, () => opened(slow.port)));
    for (const [index, socket] of sockets.entries()) {
      socket.write(uploadHead(`Content-Length: ${whole.length}`));
      socket.write(whole.subarray(0, index === 0 ? whole.length : 60));
    }
    await eventually('their tokens are looked up', () => lookUps === 4);
    for (const socket of sockets) socket.destroy();
    await eventually('they are gone', () => slow.server.inFlight() === 0);
    answer();
    const next = await sendTo(slow, whole);
    assert.equal(next.status, 201, next.text);
    assert.equal(seen.length, 1);
    await slow.server.stop(0);
  });

  it('a slow upload is ended by its own limit, a slow JSON body by a shorter one', async () => {
    const hasty = await start({ bodyTimeouts: { jsonMs: 300, uploadMs: 3_000 } });
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
    assert.ok(form.ms > 2_950 && json.ms > 250 && json.ms < form.ms, `${form.ms} ${json.ms}`);
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

  it('a client that asks first is told to continue, or that the file is too large', async () => {
    const ask = async (length: number): Promise<string> => {
      const socket = await opened(world.port);
      const text = readUntil(socket, /\r\n\r\n/);
      socket.write(uploadHead(`Content-Length: ${length}`, 'Expect: 100-continue'));
      return text.finally(() => socket.destroy());
    };
    assert.match(await ask(1_000), /^HTTP\/1\.1 100 Continue/);
    assert.match(await ask(11 * 1024 * 1024), /^HTTP\/1\.1 413 /);
  });

  it('the checks before the body come first', async () => {
    const whole = formBody([SOURCE, FILE]);
    assert.equal((await send(whole, { authorization: null })).status, 401);
    assert.equal(
      (await send(whole, { 'idempotency-key': null })).json().error.code,
      'missing_idempotency_key',
    );
  });

  describe('the fingerprint', () => {
    async function fingerprintOf(...parts: Part[]): Promise<string> {
      assert.equal((await post(...parts)).status, 201);
      return asRequest(seen.at(-1)).idempotency?.fingerprint.digest.toString('hex') ?? '';
    }

    it('the fingerprint of an upload is the same for the same bytes and fields, whatever names and order', async () => {
      const one = await fingerprintOf(SOURCE, { name: 'description', value: 'a' }, FILE);
      const same = {
        ...FILE,
        name: 'other',
        filename: 'renamed.xlsx',
        headers: ['Content-Type: text/csv'],
      };
      assert.equal(await fingerprintOf(same, { name: 'description', value: 'a' }, SOURCE), one);
    });

    it('the fingerprint of an upload is another for another byte or field', async () => {
      const known = new Set<string>();
      const forms: readonly (readonly Part[])[] = [
        [SOURCE, FILE],
        [SOURCE, { ...FILE, value: `${FILE.value.toString()} ` }],
        [SOURCE, { ...FILE, value: '' }],
        [SOURCE, { name: 'description', value: '' }, FILE],
        [SOURCE, { name: 'description', value: 'a' }, FILE],
        [{ ...SOURCE, value: ACCOUNT.replace('ff', 'fe') }, FILE],
      ];
      for (const form of forms) known.add(await fingerprintOf(...form));
      assert.equal(known.size, forms.length);
    });
  });

  it('one tenant holds at most four uploads at once, its fifth waits, and takes no slot of another', async () => {
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

describe('an upload whose slot was lost in the turn in which it was given', () => {
  it('an upload whose slot was lost in the turn in which it was given is 429 unread: it would be one more than fit in memory', async () => {
    const slot = new UploadSlot('tenant', 0, () => {});
    slot.lose();
    const server = createServer((request, response) => {
      const told = (refused: unknown): string =>
        refused instanceof ApiError ? refused.refusal.code : String(refused);
      void readUpload(request, response, 1_000, slot)
        .then(() => 'read', told)
        .then((text) => response.end(text));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { 'content-type': FORM_TYPE },
      body: formBody([SOURCE, FILE]),
    });
    assert.equal(await answer.text(), 'rate_limited');
    server.close();
  });
});

describe('the rate of uploads', () => {
  it('the rate of uploads is their own', async () => {
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
