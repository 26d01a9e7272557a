import assert from 'node:assert/strict';
import { audit } from '../../src/auditor/audit.js';
import { type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { removeOldEvents, setRetention } from '../../src/events/retention.js';
import { startTestApi } from '../helpers/api.js';
import { LEAST, openBank } from '../helpers/bank.js';
import { ownDatabase } from '../helpers/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';

const DAY_MS = 86_400_000;

const db = await ownDatabase('audit_removal');
const api = await startTestApi(db);
const bank = await openBank(api);

describe('an audit beside other work', () => {
  after(() => assertLedgerSound(db.database));

  /** Audits, and does `work` after every slice. */
  async function auditBeside(work: () => Promise<void>): Promise<void> {
    let slices = 0;
    const pause = async (): Promise<void> => {
      slices += 1;
      await work();
    };
    assert.deepEqual((await audit(db.database, { pause })).findings, []);
    assert(slices > 16, `${slices} slices`);
  }

  it('an audit during other work reports no finding for operations that begin or end between its slices', async () => {
    const [from, to] = [
      await bank.account({ funds: { COPM: 1_000n * LEAST } }),
      await bank.account(),
    ];
    await auditBeside(async () => void (await bank.sent({ from, to, raw: LEAST })));
  });

  it('an audit during other work reports no finding for events that are removed between its slices', async () => {
    const { database } = db;
    const later = instant(Date.now() + 30 * DAY_MS + 1_000);
    await setRetention(database, () => later, 30, TEST_ACTOR);
    let after: Uuid | null = null;
    await auditBeside(async () => {
      const piece = await removeOldEvents(database, later, after);
      if (piece?.isPieceDone === true) after = piece.lastId;
    });
  });
});
