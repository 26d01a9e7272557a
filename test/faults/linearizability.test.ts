import assert from 'node:assert/strict';
import { instant } from '../../src/core/instant.js';
import { Group } from '../campaigns/linearizability/group.js';
import { type History, writeHistories } from '../campaigns/linearizability/history.js';
import { loadGroup } from '../campaigns/linearizability/load.js';
import { findFault } from '../campaigns/linearizability/order.js';
import { plant, PLANTED } from '../campaigns/linearizability/planted.js';
import { Porcupine } from '../campaigns/linearizability/porcupine.js';
import { recordScript, type Scripted } from '../campaigns/linearizability/script.js';
import { startTestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import { isCommit, Proxy } from '../helpers/proxy.js';

/** `npm run prove -- linearizability` has the full counts. */
const GROUPS = 3;
const LOAD = { clients: 3, pauseMs: 5 };
const REQUESTS = 12;
const LATE_MS = 61_000;
/** One of the processes loses its connection at each COMMIT with a multiple of this number. */
const CUT_EVERY = 40;

const db = await testDatabase();
const porcupine = await Porcupine.build();
const missing = porcupine === null ? ' (PENDING: needs Go, and once its module proxy)' : '';

describe('histories of concurrent requests', () => {
  let aheadMs = 0;
  const now = (): number => performance.timeOrigin + performance.now() + aheadMs;
  const pass = (ms: number): void => void (aheadMs += ms);
  let histories: readonly History[];
  let scripted: Scripted;

  before(async () => {
    const clock = () => instant(now());
    const proxy = await Proxy.open(db.url);
    const shaky = { url: proxy.through(db.url) };
    const apis = [
      await startTestApi(db, {}, { clock }),
      await startTestApi(shaky, { COMMAND_TIMEOUT_MS: '1000' }, { clock }),
    ];
    const target = { baseUrls: apis.map(({ baseUrl }) => baseUrl), now };
    let commits = 0;
    proxy.fateOf = (data) =>
      isCommit(data) && (commits += 1) % CUT_EVERY === 0 ? 'cut_racing' : 'pass';
    const groups = await Promise.all(Array.from({ length: GROUPS }, () => Group.open(db, target)));
    for (const ms of [LATE_MS, 0]) {
      const goesOn = (sent: number): boolean => sent < REQUESTS;
      await Promise.all(groups.map((group) => loadGroup(group, { ...LOAD, goesOn })));
      pass(ms);
    }
    proxy.fateOf = () => 'pass';
    histories = await Promise.all(groups.map((group) => group.finish()));
    scripted = await recordScript(await Group.open(db, target), pass);
    for (const api of apis) await api.stop();
    await proxy.close();
  });

  it('every response of two processes whose commits are cut is correct at some moment between its request and its return', () => {
    for (const history of [...histories, scripted.history]) assert.equal(findFault(history), null);
  });

  for (const [title, planted] of Object.entries(PLANTED))
    it(`a history is refused if ${title}`, () => {
      assert.notEqual(findFault(plant(scripted, planted)), null);
    });

  it(`porcupine accepts each recorded history, and refuses each with a wrong response${missing}`, async function () {
    if (porcupine === null) return this.skip();
    const right = writeHistories('short', [...histories, scripted.history]);
    const wrong = Object.values(PLANTED).map((planted) => plant(scripted, planted));
    const verdicts = await porcupine.judge([right, writeHistories('planted', wrong)]);
    const titles = Object.keys(PLANTED);
    assert.deepEqual(
      verdicts.map(({ file, group, result }) => [file === right ? 'right' : titles[group], result]),
      [
        ...[...histories, scripted].map(() => ['right', 'Ok']),
        ...titles.map((title) => [title, 'Illegal']),
      ],
    );
  });
});
