import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import type { HistoryAndWorkflowId } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { IN_A_THREAD } from '../../development/replay-histories.js';
import { BUNDLE_FILE } from '../../src/temporal/workers.js';
import { AUDIT_SCHEDULE_ID } from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { ROOT } from '../helpers/service-process.js';
import {
  newNamespace,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
} from '../helpers/temporal.js';
import {
  installRuntimeOnce,
  startTestWorker,
  type TestWorker,
} from '../helpers/temporal-worker.js';
import { newSignature, openGuardedBank, type Signature } from '../helpers/temporal-world.js';
import { assertLedgerSound } from '../helpers/world.js';
import { type Played, playTransfers } from './scenarios.js';
import { LOOK_AGAIN_S, playBatches } from './scenarios-batches.js';
import { playPayouts } from './scenarios-payouts.js';
import { playSchedules } from './scenarios-schedules.js';
import { playWebhooks } from './scenarios-webhooks.js';

const FOLDER = join(ROOT, 'test/histories');
/** `RECORD_HISTORIES=2 npm test -- test/temporal/replay.test.ts -g 'a transfer that waits'` writes those of version 2 (test/histories/README.md). */
const RECORD = process.env.RECORD_HISTORIES;

/** Removes the identities, machines and folders of the recorded run. */
function anonymous(json: string): string {
  return json
    .replaceAll(/"\d+@[^"]*"/g, '"recorded"')
    .replaceAll(/"stackTrace":"(?:[^"\\]|\\.)*"/g, '"stackTrace":""');
}

/** The failure of each, by its workflow's id; undefined if it replayed. */
type Outcomes = ReadonlyMap<string, Error | undefined>;

/** All on one worker: each would load the bundle again. */
async function replayed(histories: Iterable<HistoryAndWorkflowId>): Promise<Outcomes> {
  const outcomes = new Map<string, Error | undefined>();
  const results = Worker.runReplayHistories(
    { ...IN_A_THREAD, workflowBundle: { codePath: BUNDLE_FILE } },
    histories,
  );
  for await (const { workflowId, error } of results) outcomes.set(workflowId, error);
  return outcomes;
}

describe('a recorded history', () => {
  const recorded = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  const read = (name: string): unknown => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
  let outcomes: Outcomes;

  before(async () => {
    installRuntimeOnce();
    outcomes = await replayed(recorded.map((name) => ({ workflowId: name, history: read(name) })));
  });

  for (const name of recorded)
    it(`replays on the workflows as they are: ${name}`, () => {
      assert.ok(outcomes.has(name), 'it was not replayed');
      assert.ifError(outcomes.get(name));
    });

  it('does not replay after a careless change to a workflow', async () => {
    const bundle = readFileSync(BUNDLE_FILE, 'utf8');
    const changed = bundle.replace(
      'await activities.read(resourceId)',
      'await activities.expire(resourceId)',
    );
    assert.notEqual(changed, bundle);
    const ofTransfer = recorded.find((name) => name.startsWith('transfer-'))!;
    const options = { ...IN_A_THREAD, workflowBundle: { code: changed } };
    const replay = Worker.runReplayHistory(options, read(ofTransfer), 'recorded');
    await assert.rejects(replay, DeterminismViolationError);
  });
});

describe('a current history', () => {
  let db: TestDatabase;
  let temporal: TestTemporal;
  let worker: TestWorker;
  let api: TestApi;
  const sign = (): Promise<Signature> => newSignature(db.database);

  before(async () => {
    db = await testDatabase();
    temporal = await newNamespace(sharedAddress(), 'replay');
    worker = await startTestWorker(db, temporal, { sweeps: false });
    const environment = {
      ...temporalEnvironment(temporal),
      WORKFLOW_LOOK_AGAIN_S: `${LOOK_AGAIN_S}`,
    };
    api = await startTestApi(db, environment, { receiver: 'real' });
  });

  after(async () => {
    await worker.stop();
  });

  it('a transfer that waits ends as its members, staff or time decide, and its current history replays', async () => {
    const [one, two] = [await openGuardedBank(api), await openGuardedBank(api, { approvals: 2 })];
    await replayAndRecord(await playTransfers({ db, temporal, one, two, sign }));
  });

  it('a history of a webhook endpoint replays after every kind of event', async () => {
    await replayAndRecord(await playWebhooks({ api, temporal, sign }));
  });

  it('of a schedule replays, whatever ends it', async () => {
    await replayAndRecord(await playSchedules({ db, api, temporal, sign }));
  });

  it('of a batch replays, whatever the outcome of the batch', async () => {
    await replayAndRecord(await playBatches({ api, temporal, sign }));
  });

  it('of a batch of payouts replays, whatever the outcome of the batch', async () => {
    await replayAndRecord(await playBatches({ api, temporal, sign }, 'payout'));
  });

  it('of a payout replays, whatever the outcome of the payout', async () => {
    await replayAndRecord(await playPayouts({ db, api, temporal, sign }));
  });

  it('of an audit replays', async () => {
    const workflowId = AUDIT_SCHEDULE_ID;
    await temporal.client.workflow.execute('ledgerAudit', {
      workflowId,
      taskQueue: 'approvals',
      args: [],
    });
    await replayAndRecord([{ workflow: 'ledgerAudit', way: 'pass', workflowId }]);
  });

  async function replayAndRecord(played: readonly Played[]): Promise<void> {
    const histories = await Promise.all(
      played.map(async ({ workflowId }) => ({
        workflowId,
        history: await temporal.client.workflow.getHandle(workflowId).fetchHistory(),
      })),
    );
    const outcomes = await replayed(histories);
    assert.equal(outcomes.size, played.length);
    for (const [index, { workflow, way, workflowId }] of played.entries()) {
      assert.ifError(outcomes.get(workflowId));
      if (RECORD === undefined) continue;
      const json = anonymous(JSON.stringify(JSON.parse(historyToJSON(histories[index]!.history))));
      writeFileSync(join(FOLDER, `${workflow}-${RECORD}-${way}.json`), `${json}\n`);
    }
    await assertLedgerSound(db.database);
  }
});
