import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { auditSome } from '../../src/auditor/audit.js';
import { type AuditPosition, startOfAudit } from '../../src/auditor/position.js';
import { Tally } from '../../src/auditor/tally.js';
import { removeOldEvents, setRetention } from '../../src/events/retention.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type Bank, LEAST, openBank } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../support/world.js';
import { ownDatabase } from '../webhooks/support.js';

const DAY_MS = 86_400_000;
/** Of the checks in audit.ts: the operations, and the one that compares. */
const [OPERATIONS, CROSSING] = [1, 6];

describe('an audit beside the removal of old events', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;

  before(async () => {
    db = await ownDatabase('audit_removal');
    api = await startTestApi(db);
    bank = await openBank(api);
    const [from, to] = [
      await bank.account({ funds: { COPM: 100n * LEAST } }),
      await bank.account(),
    ];
    for (let made = 0; made < 20; made += 1) await bank.sent({ from, to, raw: LEAST });
  });
  after(async () => {
    await api.stop();
    await assertLedgerSound(db.database);
    await db.remove();
  });

  it('has nothing to compare again for the events that are removed between its walks', async () => {
    const { database } = db;
    const later = instant(Date.now() + 30 * DAY_MS + 1_000);
    await setRetention(database, () => later, 30, TEST_ACTOR);
    let position: AuditPosition | null = startOfAudit(later);
    const upTo = async (check: number): Promise<void> => {
      while (position !== null && (position.place?.check ?? 0) < check) {
        const step = await auditSome(database, position, { isOver: () => true });
        assert.deepEqual(step.findings, []);
        position = step.position;
      }
    };
    await upTo(OPERATIONS + 1);
    for (let after: Uuid | null = null; ;) {
      const piece = await removeOldEvents(database, later, after);
      if (piece === null) break;
      if (piece.isDone) after = piece.tenantId;
    }
    await upTo(CROSSING);
    assert.equal(new Tally(position.tally).differing(0, 1_000).size, 0);
  });
});
