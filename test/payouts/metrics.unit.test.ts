import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { instant } from '../../src/core/instant.js';
import { callbackMetrics } from '../../src/payouts/metrics.js';

describe('callbacks that are not believed', () => {
  it('callbacks that are not believed are each counted, and logged once a minute per kind, with their number', async () => {
    const registry = new Registry();
    const told: unknown[] = [];
    let nowMs = 1_000_000;
    const count = callbackMetrics(
      registry,
      () => instant(nowMs),
      (...sample) => told.push(sample),
    );
    for (let times = 0; times < 1_000; times += 1) count('http:bank-a', 'forged');
    count('http:bank-a', 'late');
    count('http:bank-b', 'forged');
    count('http:bank-a', 'applied');
    nowMs += 60_000;
    count('http:bank-a', 'forged');
    assert.deepEqual(told, [
      ['http:bank-a', 'forged', 1],
      ['http:bank-a', 'late', 1],
      ['http:bank-b', 'forged', 1],
      ['http:bank-a', 'forged', 1_000],
    ]);
    assert.match(await registry.metrics(), /rail="http:bank-a",effect="forged"\} 1001/);
  });
});
