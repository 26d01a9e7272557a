import assert from 'node:assert/strict';
import { run } from '../ops/ops.js';

describe('an uncaught error', () => {
  it('ends the process, and prints its stack but not the statement it contains', async () => {
    const { code, stdout, stderr } = await run('test/helpers/uncaught-process.js', [], {});
    assert.equal(code, 1);
    assert.match(stdout, /uncaught exception/);
    assert.match(stdout, /1064/);
    assert.match(stdout, /uncaught-process/);
    for (const secret of ['INSERT', 'Zenobia', 'near'])
      assert.ok(!`${stdout}${stderr}`.includes(secret), stdout + stderr);
  });
});

describe('a process that cannot start', () => {
  it('writes its last log lines before it exits', async () => {
    const { code, stdout, stderr } = await run('test/helpers/refused-process.js', [], {});
    assert.equal(code, 1);
    assert.match(stdout, /the server takes no writes/);
    assert.match(stderr, /the service cannot start: no primary was found/);
  });
});
