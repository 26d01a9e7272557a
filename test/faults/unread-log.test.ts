import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request, testEnvironment } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import { freePorts } from '../helpers/service-process.js';

const SERVER = join(fileURLToPath(import.meta.url), '../../../src/processes/api.js');
/** More lines than a pipe takes without a reader. */
const REQUESTS = 600;

describe('a log without a reader', () => {
  it('delays neither responses nor the end of the process', async () => {
    const { url } = await testDatabase();
    const [port = 0, adminPort = 0] = await freePorts(2);
    const environment = testEnvironment(url, {
      LOG_LEVEL: 'info',
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
    });
    const child = spawn(process.execPath, [SERVER], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const baseUrl = `http://127.0.0.1:${port}`;
      while (!(await request(baseUrl, 'GET', '/nothing').then(Boolean, () => false)))
        await sleep(50);
      for (let sent = 0; sent < REQUESTS; sent += 1)
        assert.equal((await request(baseUrl, 'GET', '/nothing')).status, 404);
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      assert.equal(code, 0);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
