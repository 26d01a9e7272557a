import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { csvOf, formOf } from '../../../batches/support.js';
import { answered } from '../../../helpers/bank.js';
import type { Uuid } from '../../../../src/core/ids.js';
import type { Attack } from '../battlefield.js';

/** Taking more than one's share of places, slots and room. */

const SLOW_MS = 15_000;
const SLOW_TENANTS = 5;
const SLOW_EACH = 4;
const LOOK_MS = 500;

/** Uploads that never end, on every place that there is. */
export const slowUploads: Attack = {
  name: 'slow uploads',
  run: async (field) => {
    const attackers = await field.attackers(SLOW_TENANTS);
    const { port } = new URL(field.api.baseUrl);
    const sockets = attackers.flatMap(({ bank }) =>
      Array.from({ length: SLOW_EACH }, () => dripping(Number(port), bank.token)),
    );
    await sleep(SLOW_MS);
    for (const socket of sockets) socket.destroy();
    return `${sockets.length} uploads of ${SLOW_TENANTS} tenants dripped for ${SLOW_MS / 1000} s`;
  },
};

function dripping(port: number, token: string): ReturnType<typeof connect> {
  const socket = connect(port, '127.0.0.1');
  const key = crypto.randomUUID();
  const head = [
    'POST /v1/bonus_batches HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${token}`,
    `Idempotency-Key: ${key}`,
    'Content-Type: multipart/form-data; boundary=b',
    'Content-Length: 1000000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n--b\r\n`);
  const drip = setInterval(() => socket.write('a'), 100);
  socket.on('error', () => undefined).on('close', () => clearInterval(drip));
  return socket;
}

const FLOOD = 60;
const FLOOD_ROWS = 5_000;
/** Enough that the slowest in a hundred is more than one moment of the machine. */
const FLOOD_MS = 40_000;

/** One tenant with more batches than the worker has slots. */
export const batchFlood: Attack = {
  name: 'batch flood',
  run: async (field) => {
    const [attacker] = await field.attackers(1);
    const file = attacker!.file(FLOOD_ROWS);
    for (let sent = 0; sent < FLOOD; sent += 1) await attacker!.upload(file);
    await sleep(FLOOD_MS);
    return `${FLOOD} batches of ${FLOOD_ROWS} rows of one tenant`;
  },
};

const PAID = 40;
const PAID_ROWS = 200;

/** One tenant that has many batches paid at once. */
export const executionFlood: Attack = {
  name: 'execution flood',
  run: async (field) => {
    const [attacker] = await field.attackers(1);
    const ids: Uuid[] = [];
    for (let made = 0; made < PAID; made += 1) ids.push(await attacker!.ready(PAID_ROWS));
    await Promise.all(ids.map((id) => attacker!.execute(id)));
    for (const id of ids)
      while ((await attacker!.read(id)).status !== 'completed') await sleep(LOOK_MS);
    return `${PAID} batches of ${PAID_ROWS} rows of one tenant executed at once, and all paid`;
  },
};

/** Sends files without end, each with as many problems as possible, through all refusals. */
export const quotaFlood: Attack = {
  name: 'stored without end',
  run: async (field) => {
    const [attacker] = await field.attackers(1);
    const file = csvOf(Array.from({ length: 20_000 }, () => ['$nobody', '-', 'EUR', '=1', null]));
    const until = performance.now() + FLOOD_MS;
    let [taken, refused, quota] = [0, 0, ''];
    while (performance.now() < until) {
      const form = formOf(file, { source_account: attacker!.source.id });
      const answer = await attacker!.bank.request('POST', '/v1/bonus_batches', { form });
      if (answer.status === 201) taken += 1;
      else {
        const { details } = answered(answer, 422, 'quota_exceeded');
        quota = `${String(details?.quota)} ${String(details?.used)} of ${String(details?.limit)}`;
        refused += 1;
      }
    }
    assert(refused > 0, `${taken} files were taken, and none refused`);
    return `${taken} files were taken and ${refused} refused: ${quota}`;
  },
};
