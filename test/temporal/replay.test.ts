import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { BUNDLE_FILE } from '../../src/temporal/bundle-file.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { ROOT } from '../support/service-process.js';
import { newNamespace, sharedAddress, temporalEnvironment, type TestTemporal } from '../support/temporal.js';
import { installRuntimeOnce, startTestWorker, type TestWorker } from '../support/temporal-worker.js';
import { newSignature, openGuardedBank, type Signature } from '../support/temporal-world.js';
import { assertLedgerSound } from '../support/world.js';
import { type Played, playTransfers } from './scenarios.js';
import { playBatches } from './scenarios-batches.js';
import { playPayouts } from './scenarios-payouts.js';
import { playWebhooks } from './scenarios-webhooks.js';

const FOLDER = join(ROOT, 'test/histories');
/** `RECORD_HISTORIES=2 npm test -- test/temporal/replay.test.ts -g transfer` writes those of version 2 (test/histories/README.md). */
const RECORD = process.env.RECORD_HISTORIES;

/** Who ran it, and where, is nobody's business. */
function anonymous(json: string): string {
  return json.replaceAll(/"\d+@[^"]*"/g, '"recorded"');
}

describe('a recorded history', function () {
  this.timeout(90_000);
  const recorded = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  const replay = (history: string, workflowBundle: { codePath: string } | { code: string }): Promise<void> =>
    Worker.runReplayHistory({ workflowBundle }, JSON.parse(history), 'recorded');

  before(installRuntimeOnce);

  for (const name of recorded)
    it(`replays on the workflows as they are: ${name}`, () =>
      replay(readFileSync(join(FOLDER, name), 'utf8'), { codePath: BUNDLE_FILE }));

  it('does not replay where a workflow was changed without care', async () => {
    const bundle = readFileSync(BUNDLE_FILE, 'utf8');
    const changed = bundle.replace('await activities.read(resourceId)', 'await activities.expire(resourceId)');
    assert.notEqual(changed, bundle);
    const ofTransfer = recorded.find((name) => name.startsWith('transfer-'))!;
    const history = readFileSync(join(FOLDER, ofTransfer), 'utf8');
    await assert.rejects(replay(history, { code: changed }), DeterminismViolationError);
  });
});

describe('a history of today', function () {
  this.timeout(90_000);
  let db: TestDatabase;
  let temporal: TestTemporal;
  let worker: TestWorker;
  let api: TestApi;
  const sign = (): Promise<Signature> => newSignature(db.database);

  before(async () => {
    db = await testDatabase();
    temporal = await newNamespace(sharedAddress(), 'replay');
    worker = await startTestWorker(db, temporal, { sweeps: false });
    api = await startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
  });

  after(async () => {
    await api.stop();
    await worker.stop();
  });

  it('replays, whichever way its transfer went', async () => {
    const [one, two] = [await openGuardedBank(api), await openGuardedBank(api, { approvals: 2 })];
    await replayAndRecord(await playTransfers({ db, temporal, one, two, sign }));
  });

  it('replays, whatever its webhook endpoint went through', async () => {
    await replayAndRecord(await playWebhooks({ api, temporal, sign }));
  });

  it('replays, whichever way its batch went', async () => {
    await replayAndRecord(await playBatches({ api, temporal, sign }));
  });

  it('replays, whichever way its payout went', async () => {
    await replayAndRecord(await playPayouts({ api, temporal, sign }));
  });

  async function replayAndRecord(played: readonly Played[]): Promise<void> {
    for (const { workflow, way, workflowId } of played) {
      const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
      await Worker.runReplayHistory({ workflowBundle: { codePath: BUNDLE_FILE } }, history, workflowId);
      if (RECORD !== undefined)
        writeFileSync(join(FOLDER, `${workflow}-${RECORD}-${way}.json`), `${anonymous(historyToJSON(history))}\n`);
    }
    await assertLedgerSound(db.database);
  }
});
