import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request, startTestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { answered, LEAST, openBank, transferBody } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';

const CLIENTS = 16;

const db = await testDatabase();
const healthy = await startTestApi(db);

describe('a process that is told to stop', () => {
  it('a process that gets SIGTERM answers accepted requests correctly, refuses later ones, and exits', async () => {
    const bank = await openBank(healthy);
    const [from, to] = [
      await bank.account({ funds: { COPM: 100_000n * LEAST } }),
      await bank.account(),
    ];
    const body = transferBody({ from, to, raw: LEAST });
    const api = await ApiProcess.start(db.url);
    const told = new Map<string, string | null>();
    const work = async (): Promise<void> => {
      for (;;) {
        const key = randomUUID();
        told.set(key, null);
        const answer = await request(api.baseUrl, 'POST', '/v1/transfers', {
          token: bank.token,
          body,
          key,
        }).catch(() => null);
        if (answer === null) return;
        // Never 503 while it stops: what was taken in is finished.
        told.set(key, answered(answer, 201).text);
      }
    };
    const working = Array.from({ length: CLIENTS }, work);
    while ([...told.values()].filter((answer) => answer !== null).length < 5 * CLIENTS)
      await sleep(5);
    await api.stop();
    await Promise.all(working);
    assert(!api.isRunning);
    await Promise.all(
      Array.from(told, async ([key, answer]) => {
        const again = await bank.request('POST', '/v1/transfers', { body, key });
        if (answer === null) assert([200, 201].includes(again.status), again.text);
        else assert.equal(answered(again, 200).text, answer);
      }),
    );
    assert.equal(await bank.available(to), LEAST * BigInt(told.size));
    await assertLedgerSound(db.database);
  });

  it('is not ready at once, and serves what a proxy still sends it during its delay', async () => {
    const { token } = await openBank(healthy);
    const api = await ApiProcess.start(db.url, { STOP_DELAY_MS: '600000' });
    const readiness = async (): Promise<number> => (await fetch(`${api.adminUrl}/readyz`)).status;
    assert.equal(await readiness(), 200);
    process.kill(api.pid, 'SIGTERM');
    await until('it is not ready', async () => (await readiness()) === 503);
    answered(await request(api.baseUrl, 'GET', '/v1/events', { token }), 200);
    await api.kill();
  });
});
