import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptResult } from '../../src/webhooks/attempt.js';
import { headText } from '../../src/webhooks/attempt.js';
import { retryAfterMs } from '../../src/webhooks/retry-after.js';
import { verifySignatures } from '../../development/receiver/signatures.js';
import { newSecret, signatureHeaders } from '../../src/webhooks/signing.js';
import {
  allow,
  closeAll,
  guardWith,
  httpReceiver,
  listening,
  NEVER,
  send,
  senderWith,
  tcpReceiver,
} from './receivers.js';

const answered = (result: AttemptResult): Extract<AttemptResult, { outcome: 'answered' }> => {
  assert.ok(result.outcome === 'answered', JSON.stringify(result));
  return result;
};

const BODIES = {
  'emoji and right-to-left text': '{"d":"🦄👩‍👩‍👧 שלום \u202eمرحبا"}',
  escapes: String.raw`{"d":"\"\\\/\b\f\n\r\t\u00e9\ud83e\udd84"}`,
  'an escaped NUL': String.raw`{"d":"a\u0000b"}`,
  'a very long text': JSON.stringify({ d: 'ñ'.repeat(500_000) }),
};

describe('a delivery to a receiver', () => {
  afterEach(closeAll);

  it('is a signed POST of exactly these bytes', async () => {
    const receiver = await httpReceiver(
      (response) => void response.writeHead(200, { 'x-any': 'y' }).end('thanks'),
    );
    const sender = senderWith();
    const secret = newSecret();
    for (const text of Object.values(BODIES)) {
      const body = Buffer.from(text);
      const signable = {
        id: randomUUID(),
        body,
        secret,
        previousSecret: null,
        timestampS: Math.floor(Date.now() / 1_000),
      };
      const result = await sender.send(
        { url: `${receiver.url}?a=b%20c`, body, headers: signatureHeaders(signable) },
        NEVER,
      );
      assert.deepEqual(
        { ...answered(result), durationMs: 0 },
        {
          outcome: 'answered',
          status: 200,
          durationMs: 0,
          responseHead: 'thanks',
          retryAfterMs: null,
        },
      );
      const got = receiver.requests.at(-1)!;
      assert.deepEqual([got.method, got.url], ['POST', '/hook?a=b%20c']);
      assert.ok(got.body.equals(body));
      assert.equal(got.headers['content-type'], 'application/json');
      assert.equal(got.headers['content-length'], body.length.toString());
      assert.equal(got.headers.host, `127.0.0.1:${receiver.port}`);
      assert.match(got.headers['user-agent'] ?? '', /^money-movement-webhooks\//);
      const headers = Object.fromEntries(
        Object.entries(got.headers).map(([name, value]) => [name, String(value)]),
      );
      for (const { problem } of verifySignatures(
        { body: got.body, headers },
        secret,
        signable.timestampS,
      ))
        assert.equal(problem, null);
    }
  });

  it('is answered by any status, and no redirect is followed', async () => {
    const elsewhere = await httpReceiver();
    for (const status of [200, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 410, 429, 500]) {
      const receiver = await httpReceiver(
        (response) => void response.writeHead(status, { location: elsewhere.url }).end(),
      );
      assert.equal(answered(await send(senderWith(), receiver.url)).status, status);
    }
    assert.equal(elsewhere.connections(), 0);
  });

  it('shows the first KiB of the answer as printable text', async () => {
    const receiver = await httpReceiver(
      (response) => void response.end(Buffer.from(`\u001b[31m${'é'.repeat(2_000)}`)),
    );
    const { responseHead } = answered(await send(senderWith(), receiver.url));
    assert.equal(responseHead, `\uFFFD[31m${'é'.repeat(509)}`);
  });

  it('says how long a receiver asks us to wait', async () => {
    const receiver = await httpReceiver(
      (response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
    );
    assert.equal(answered(await send(senderWith(), receiver.url)).retryAfterMs, 7_000);
  });

  it('is canceled at once by its signal, and when the sender closes; afterwards none begins', async () => {
    const receiver = await httpReceiver(() => undefined);
    const stop = new AbortController();
    const sender = senderWith({ timeoutMs: 60_000 });
    const sending = [
      send(sender, receiver.url, '{}', stop.signal),
      send(sender, receiver.url),
      send(sender, receiver.url),
    ];
    while (receiver.requests.length < 3) await sleep(5);
    stop.abort();
    const [stopped] = await Promise.all([sending[0], sender.close()]);
    const late = [await send(senderWith(), receiver.url, '{}', stop.signal)];
    late.push(await send(sender, receiver.url));
    for (const result of [stopped, ...(await Promise.all(sending)), ...late])
      assert.ok(result?.outcome === 'failed' && result.reason === 'canceled');
    assert.equal(receiver.requests.length, 3);
  });

  it('the message of a failed delivery reveals neither the address nor the URL', async () => {
    const closed = await httpReceiver();
    await closeAll();
    const result = await send(
      senderWith(),
      `http://127.0.0.1:${closed.port}/secret-path?token=secret`,
    );
    assert.deepEqual(
      { ...result, durationMs: 0 },
      {
        outcome: 'failed',
        reason: 'connection',
        message: 'the connection failed (ECONNREFUSED)',
        durationMs: 0,
      },
    );
  });
});

describe('a connection', () => {
  afterEach(closeAll);

  const NAME = 'receiver.internal';
  /** A sender for which a name has these addresses, one answer for each attempt. */
  const withAnswers = (
    answers: readonly (readonly string[])[],
  ): { sender: ReturnType<typeof senderWith>; asked: () => number } => {
    let asked = 0;
    const guard = guardWith({ allowedHosts: allow(`http://${NAME}:*`) });
    guard.resolve = async () => {
      const [first, ...rest] = answers[Math.min(asked++, answers.length - 1)]!.map((address) => ({
        address,
        family: 4 as const,
      }));
      return first === undefined
        ? { ok: false, reason: 'unresolvable' }
        : { ok: true, addresses: [first, ...rest] };
    };
    return { sender: senderWith({ guard }), asked: () => asked };
  };

  it('is reused for the next delivery to the same host, whose addresses are resolved for each attempt', async () => {
    const receiver = await httpReceiver(undefined, '0.0.0.0');
    const { sender, asked } = withAnswers([['127.0.0.1']]);
    for (let i = 0; i < 5; i++) answered(await send(sender, `http://${NAME}:${receiver.port}/`));
    assert.deepEqual([receiver.requests.length, receiver.connections(), asked()], [5, 1, 5]);
    assert.equal(receiver.requests[0]!.headers.host, `${NAME}:${receiver.port}`);
  });

  it('is not reused if the host has other addresses by then', async () => {
    const receiver = await httpReceiver(undefined, '0.0.0.0');
    const { sender } = withAnswers([
      ['127.0.0.1'],
      ['127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.1', '127.0.0.2'],
    ]);
    for (let i = 0; i < 4; i++) answered(await send(sender, `http://${NAME}:${receiver.port}/`));
    assert.equal(receiver.connections(), 3);
  });

  it('goes to the checked address even if DNS changes between check and connect', async () => {
    const [checked, canary] = [await httpReceiver(undefined, '127.0.0.2'), await httpReceiver()];
    assert.notEqual(checked.port, canary.port);
    // A name that the machine itself resolves to 127.0.0.1, and the guard once to 127.0.0.2.
    const guard = guardWith({ allowedHosts: allow('http://localhost:*') });
    let asked = 0;
    guard.resolve = async () => ({
      ok: true,
      addresses: [{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }],
    });
    const sender = senderWith({ guard });
    answered(await send(sender, `http://localhost:${checked.port}/`));
    assert.deepEqual([asked, checked.requests.length, canary.connections()], [1, 1, 0]);
  });

  it('is tried with the next address if the first does not accept it', async () => {
    const receiver = await httpReceiver(undefined, '127.0.0.2');
    const { sender } = withAnswers([['127.0.0.3', '127.0.0.2']]);
    answered(await send(sender, `http://${NAME}:${receiver.port}/`));
  });

  it('that the receiver closed while it was idle costs the delivery nothing', async () => {
    let served = 0;
    // Answers once, and resets the connection when it is used again.
    const receiver = await tcpReceiver((socket) => {
      served++;
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      socket.on('data', () => socket.resetAndDestroy());
    });
    const sender = senderWith();
    for (let i = 0; i < 3; i++) answered(await send(sender, receiver.url));
    assert.equal(served, 3);
  });

  it('to which the receiver wrote more than an answer costs the next delivery nothing', async () => {
    for (const more of [
      '{"ok":true}',
      'HTTP/9',
      'HTTP/1.1 2x4 No\r\n\r\n',
      '\u0000'.repeat(70_000),
    ]) {
      const receiver = await listening(
        createServer((socket) =>
          socket.on('data', () => {
            socket.write('HTTP/1.1 204 No Content\r\n\r\n');
            setTimeout(() => socket.write(more), 5);
          }),
        ),
      );
      const sender = senderWith();
      for (let i = 0; i < 6; i++) {
        assert.equal(answered(await send(sender, receiver.url)).status, 204, more);
        // The rest arrives while the connection is in use, while it is idle, or between both.
        await sleep(2 * i);
      }
    }
  });

  it('a new connection whose answer is not HTTP is not repeated', async () => {
    let served = 0;
    const receiver = await tcpReceiver((socket) => {
      served++;
      socket.end('garbage\r\n\r\n');
    });
    const result = await send(senderWith(), receiver.url);
    assert.deepEqual([result.outcome === 'failed' && result.reason, served], ['invalid_answer', 1]);
  });
});

describe('Retry-After', () => {
  const NOW = Date.parse('2026-11-21T12:00:00Z');
  it('is read as seconds or a date of HTTP, a day at most, on 429 and 503 alone', () => {
    for (const [given, waitMs] of [
      ['0', 0],
      ['120', 120_000],
      ['86401', 86_400_000],
      ['9'.repeat(20), 86_400_000],
      ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
      ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
      ['Mon, 21 Nov 2033 12:00:00 GMT', 86_400_000],
      ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
      ['Sat Nov 21 12:00:30 2026', 30_000],
      ['Tue Dec  1 12:00:00 2026', 86_400_000],
      ['Sat, 21 Nov 2026 12:00:60 GMT', 60_000],
      ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
      ['Saturday, 21-Nov-76 12:00:00 GMT', 86_400_000],
      ['Saturday, 21-Nov-76 12:00:01 GMT', 0],
      ['Sunday, 22-Nov-76 12:00:00 GMT', 0],
      ['', null],
      ['-1', null],
      ['1.5', null],
      ['1e3', null],
      ['soon', null],
      ['2026-11-21T12:00:30Z', null],
      ['Xxx, 99 Xxx 2026 12:00:00 GMT', null],
      ['Mon, 30 Feb 2026 12:00:00 GMT', null],
      ['Sat, 21 Nov 2026 24:00:00 GMT', null],
      ['Sat, 21 Nov 2026 12:00:30', null],
      ['Sat, 21-Nov-26 12:00:30 GMT', null],
      ['Saturday, 21 Nov 2026 12:00:30 GMT', null],
      ['Sat Nov 1 12:00:30 2026', null],
      ['Sat Nov 21 12:00:30 2026 GMT', null],
      ['sat, 21 nov 2026 12:00:30 gmt', null],
      ['7, 8', null],
      [undefined, null],
    ] as const) {
      for (const status of [429, 503])
        assert.equal(retryAfterMs(status, given, NOW), waitMs, given);
      for (const status of [200, 302, 500])
        assert.equal(retryAfterMs(status, given, NOW), null, given);
    }
  });
});

describe('the head of an answer', () => {
  for (const [what, bytes, shown] of [
    ['text', Buffer.from('Hola ñ 🦄\n\tdone\r\n'), 'Hola ñ 🦄\n\tdone\n'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0xc3, 0x28]), 'a\uFFFD\uFFFD('],
    [
      'control characters',
      Buffer.from('a\u0000b\u0007c\u001b[2Jd\u009be\u007f'),
      'a\uFFFDb\uFFFDc\uFFFD[2Jd\uFFFDe\uFFFD',
    ],
    ['changes of direction', Buffer.from('a\u202eb\u2066c\u2028d'), 'a\uFFFDb\uFFFDc\uFFFDd'],
    ['a character cut in two', Buffer.from(`${'x'.repeat(1_022)}🦄`), 'x'.repeat(1_022)],
    ['exactly a KiB', Buffer.from('x'.repeat(1_024)), 'x'.repeat(1_024)],
    ['nothing', Buffer.alloc(0), ''],
  ] as const)
    it(`keeps ${what} printable`, () => assert.equal(headText(bytes), shown));
});
