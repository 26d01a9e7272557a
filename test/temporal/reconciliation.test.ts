import assert from 'node:assert/strict';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { TemporalUnavailable } from '../../src/temporal/failures.js';
import { reconciliationSweep } from '../../src/temporal/reconciliation.js';
import { transferWorkflowResource } from '../../src/transfers/workflow-resource.js';
import { type TestDatabase, testDatabase } from '../support/database.js';

const LOOK_AGAIN_MS = 3_600_000;
/** Several slices, the last of which is not full. */
const MANY = 450;

describe('the reconciliation', () => {
  let db: TestDatabase;
  let ids: readonly Uuid[];
  let now: number;
  let isAway: boolean;
  let compared: string[];
  let announced: Uuid[];

  before(async () => {
    db = await testDatabase();
  });
  beforeEach(() => {
    ids = Array.from({ length: MANY }, newId).sort();
    [now, isAway, compared, announced] = [Date.now(), false, [], []];
  });

  /** Over resources that all wait, of which every second has a workflow that shows the same status. */
  const sweepOf = () =>
    reconciliationSweep({
      database: db.database,
      resources: [
        {
          ...transferWorkflowResource,
          workflowIdOf: (id) => id,
          listWaiting: (_reader, _before, after, limit) => {
            const rest = ids.filter((id) => after === null || id > after);
            return Promise.resolve(
              rest.slice(0, limit).map((id) => ({ id, tenantId: id, status: 'pending_approval' })),
            );
          },
        },
      ],
      client: {
        notifyWorkflow: () => Promise.resolve(),
        runningPages: async function* () {
          yield await Promise.resolve([]);
        },
        runningStatus: (workflowId) => {
          if (isAway && compared.length >= MANY / 2)
            return Promise.reject(new TemporalUnavailable('away'));
          compared.push(workflowId);
          const has = ids.indexOf(workflowId as Uuid) % 2 === 0;
          return Promise.resolve(has ? 'pending_approval' : undefined);
        },
      },
      outbox: {
        add: (rows) => {
          announced.push(...rows.map(({ resourceId }) => resourceId));
          return Promise.resolve();
        },
      },
      clock: () => instant(now),
      lookAgainMs: LOOK_AGAIN_MS,
      onBehind: () => undefined,
    });
  const lost = (): Uuid[] => ids.filter((_, index) => index % 2 === 1);

  it('the reconciliation compares everything that waits, oldest first, and announces what has no workflow', async () => {
    await sweepOf().run(new AbortController().signal);
    assert.deepEqual([compared, announced], [ids, lost()]);
  });

  it('the reconciliation goes on where it was once Temporal is back', async () => {
    const sweep = sweepOf();
    isAway = true;
    for (let round = 0; round < 3; round += 1)
      assert.equal(await sweep.run(new AbortController().signal), false);
    assert(announced.length > 0 && announced.length < lost().length);
    isAway = false;
    await sweep.run(new AbortController().signal);
    assert.deepEqual(announced, lost());
  });

  it('the reconciliation begins again before a workflow looks by itself, and not at once', async () => {
    const sweep = sweepOf();
    const { signal } = new AbortController();
    await sweep.run(signal);
    now += LOOK_AGAIN_MS / 2;
    await sweep.run(signal);
    assert.equal(compared.length, MANY);
    now += LOOK_AGAIN_MS / 2;
    await sweep.run(signal);
    assert.equal(compared.length, 2 * MANY);
  });

  it('the reconciliation stops when its process has lost the sweep, and goes on when it has it again', async () => {
    const sweep = sweepOf();
    await sweep.run(AbortSignal.abort());
    assert.equal(compared.length, 0);
    await sweep.run(new AbortController().signal);
    assert.deepEqual(announced, lost());
  });
});
