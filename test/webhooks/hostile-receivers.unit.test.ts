import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptResult } from '../../src/webhooks/attempt.js';
import {
  closeAll,
  guardWith,
  listening,
  type Listener,
  send,
  senderWith,
  tcpReceiver,
} from './receivers.js';

const DRIP_MS = 20;
/** The time that a busy machine may add to a limit, or take off: a timer counts from when its turn of the loop began. */
const SLACK_MS = 2_000;

function assertTook(tookMs: number, limitMs: number): void {
  assert.ok(tookMs >= limitMs / 2 && tookMs < limitMs + SLACK_MS, `${tookMs} ms`);
}

/** Writes the pieces one by one, the last one for ever. */
function drip(socket: Socket, pieces: readonly string[]): void {
  let next = 0;
  const timer = setInterval(
    () => socket.write(pieces[Math.min(next++, pieces.length - 1)] ?? ''),
    DRIP_MS,
  );
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as it is read, until the other side has enough. */
function flood(socket: Socket, piece: Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', write);
  write();
}

/** Hangs until the attempt's time is over. */
const HANGING: Record<string, (socket: Socket) => void> = {
  'hangs after it has read the request': () => undefined,
  'drips a status line': (socket) =>
    drip(socket, ['H', 'T', 'T', 'P', '/', '1', '.', '1', ' ', '2', '0', '0', ' ', 'O']),
  'drips headers': (socket) => drip(socket, ['HTTP/1.1 200 OK\r\n', 'x-a: b\r\n']),
  'drips one header': (socket) => drip(socket, ['HTTP/1.1 200 OK\r\nx-a: ', 'b']),
  'sends 100 Continue for ever': (socket) => drip(socket, ['HTTP/1.1 100 Continue\r\n\r\n']),
  'sends 103 Early Hints for ever': (socket) => drip(socket, ['HTTP/1.1 103 Early Hints\r\n\r\n']),
};

async function timed(attempt: Promise<AttemptResult>): Promise<AttemptResult & { tookMs: number }> {
  const startedAt = performance.now();
  return { ...(await attempt), tookMs: performance.now() - startedAt };
}

function assertFailed(result: AttemptResult, reason: string): void {
  assert.deepEqual(
    [result.outcome, 'reason' in result && result.reason],
    ['failed', reason],
    JSON.stringify(result),
  );
}

describe('an attempt ends in time at a receiver that', () => {
  afterEach(closeAll);

  for (const [what, speak] of Object.entries(HANGING))
    it(`${what}, and leaves no connection behind`, async () => {
      const receiver = await tcpReceiver(speak);
      const hangs = async (timeoutMs: number): Promise<void> => {
        const result = await timed(send(senderWith({ timeoutMs }), receiver.url));
        assertFailed(result, 'timeout');
        assertTook(result.tookMs, timeoutMs);
        assertTook(result.durationMs, timeoutMs);
      };
      await Promise.all([hangs(200), hangs(600)]);
      await sleep(50);
      assert.equal(receiver.open(), 0);
    });

  for (const [what, attempt] of [
    [
      'reads no byte of a long request',
      async () => {
        const receiver = await listening(createServer((socket) => socket.pause()));
        return timed(send(senderWith({ timeoutMs: 300 }), receiver.url, 'x'.repeat(20_000_000)));
      },
    ],
    [
      'begins a TLS handshake and does not continue',
      async () => {
        const { url } = await tcpReceiver(() => undefined);
        return timed(send(senderWith({ timeoutMs: 300 }), url.replace('http:', 'https:')));
      },
    ],
    [
      'has name servers that do not answer',
      () => {
        const guard = guardWith({ resolve: () => new Promise(() => undefined) });
        const sender = senderWith({ guard, timeoutMs: 300 });
        return timed(send(sender, 'https://hooks.acme.example/'));
      },
    ],
  ] as const)
    it(`${what}`, async () => {
      const result = await attempt();
      assertFailed(result, 'timeout');
      assertTook(result.tookMs, 300);
    });

  it('drips its answer: the status counts, with as much of the body as arrived', async () => {
    const receiver = await tcpReceiver((socket) =>
      drip(socket, ['HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', 'drop ']),
    );
    const result = await timed(send(senderWith({ timeoutMs: 400 }), receiver.url));
    assert.ok(result.outcome === 'answered' && result.status === 200);
    assert.match(result.responseHead, /^(drop )+$/);
    assertTook(result.tookMs, 400);
  });

  it('breaks off its answer: the status counts', async () => {
    const receiver = await tcpReceiver((socket) => {
      socket.write('HTTP/1.1 503 Busy\r\nretry-after: 9\r\ncontent-length: 9999\r\n\r\nhalf');
      setTimeout(() => socket.resetAndDestroy(), 100);
    });
    const result = await send(senderWith(), receiver.url);
    assert.deepEqual(
      { ...result, durationMs: 0 },
      {
        outcome: 'answered',
        status: 503,
        durationMs: 0,
        responseHead: 'half',
        retryAfterMs: 9_000,
      },
    );
  });

  for (const [what, head] of [
    ['announces 4 GB', 'HTTP/1.1 200 OK\r\ncontent-length: 4294967296\r\n\r\n'],
    ['sends chunks without an end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['sends until it closes', 'HTTP/1.1 200 OK\r\n\r\n'],
  ] as const)
    it(`${what}: at most 64 KiB are read, and the connection is closed`, async () => {
      const piece = Buffer.alloc(65_536, 'x');
      const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]);
      let socket: Socket | undefined;
      const receiver = await tcpReceiver((one) => {
        socket = one;
        one.write(head);
        flood(one, head.includes('chunked') ? chunk : piece);
      });
      const result = await timed(send(senderWith({ timeoutMs: 20_000 }), receiver.url));
      assert.ok(
        result.outcome === 'answered' &&
          result.status === 200 &&
          result.responseHead === 'x'.repeat(1_024),
      );
      assert.ok(result.tookMs < SLACK_MS, 'long before its time is over');
      while (socket?.destroyed === false) await sleep(5);
      // The rest is what the kernel's buffers took.
      assert.ok((socket?.bytesWritten ?? Infinity) < 32_000_000);
    });

  for (const [what, answer] of [
    ['garbage', '\u0000\u0001garbage\r\n\r\n'],
    ['another protocol', '220 mail.acme.example ESMTP\r\n'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx'],
    ['a header with a NUL', 'HTTP/1.1 200 OK\r\nx: a\u0000b\r\n\r\n'],
  ] as const)
    it(`answers ${what}`, async () => {
      const receiver = await tcpReceiver((socket) => socket.write(answer));
      assertFailed(await send(senderWith(), receiver.url), 'invalid_answer');
    });

  it('answers 101: it is not a success, and no other protocol is spoken', async () => {
    const receiver = await tcpReceiver((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    );
    const result = await send(senderWith(), receiver.url);
    assert.ok(result.outcome === 'answered' && result.status === 101, JSON.stringify(result));
  });

  const ENDINGS: Record<string, (socket: Socket) => void> = {
    'closes without an answer': (socket) => socket.end(),
    resets: (socket) => socket.resetAndDestroy(),
    'closes in the middle of the headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nx-a'),
  };
  for (const [what, speak] of Object.entries(ENDINGS))
    it(`${what}`, async () => {
      const receiver: Listener = await tcpReceiver(speak);
      assertFailed(await send(senderWith(), receiver.url), 'connection');
    });
});
