import assert from 'node:assert/strict';
import { findStaff } from '../../src/staff/people.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { newId } from '../../src/core/ids.js';
import type { Staff } from '../../src/db/entities/staff.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, idLiteral, type Json, object, text } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import {
  approvalsOfKind,
  assertEnded,
  ENDS,
  EXPIRES_IN_S,
  type GuardedBank,
  type KindApprovals,
  KINDS,
  openGuarded,
  rejectionOf,
  THRESHOLD,
  type Verb,
} from '../helpers/guarded.js';
import { someone, TEST_ACTOR } from '../helpers/world.js';
import { addStaff, codeOf, forgetCodes, proven, signalsOf } from '../helpers/staff.js';

/** A decision that a member of the staff signed, by the command line or a signal. */
type Acted = { readonly status: string; readonly refused: string | null };
const CHANNELS = ['ops', 'temporal'] as const;
const COUNTS_ONCE = 'support has approved it already, and counts once';
type Channel = (typeof CHANNELS)[number];

for (const kind of KINDS)
  describe(`support staff with a ${kind} that waits for approval`, () => {
    let db: TestDatabase;
    let api: TestApi;
    let own: GuardedBank;
    let approvals: KindApprovals;
    let sofia: Staff;
    let late: number;

    before(async () => {
      db = await testDatabase();
      api = await startTestApi(db, {}, { clock: () => instant(systemClock() + late) });
      late = 0;
      approvals = approvalsOfKind(api, kind);
      sofia = await addStaff(db.database, { name: nameOf('sofia'), rights: ['approve', 'cancel'] });
      await addStaff(db.database, { name: nameOf('approves'), rights: ['approve'] }, TEST_ACTOR);
    });

    beforeEach(async () => {
      late = 0;
      own = await openGuarded(api, {}, { kind });
    });

    function nameOf(name: string): string {
      return `${name} of ${kind} ${process.pid}`;
    }

    async function act(
      channel: Channel,
      action: Verb,
      id: unknown,
      who: string | null = sofia.name,
      reason: string | null = 'asked for on the phone',
      actionId: string = newId(),
    ): Promise<Acted> {
      const person = await findStaff(db.database.reader, who ?? '');
      if (channel === 'temporal') {
        await forgetCodes(db.change);
        const code = person === undefined ? '492039' : codeOf(person);
        const signal = {
          resourceId: text(id),
          action,
          actor: who,
          reason,
          code,
          number: 1,
          actionId,
        };
        const { state, refused } = await approvals.performSignal(signal, signalsOf(db.database));
        return { status: state.status, refused };
      }
      const by = person === undefined ? someone(who ?? '') : proven(person);
      const { outcome } = await approvals.actByStaff(id, action, by, reason ?? '');
      if (outcome.done) return { status: outcome.resource.status, refused: null };
      return { status: (await approvals.state(text(id))).status, refused: outcome.refusal.message };
    }

    const acts = async (id: unknown): Promise<Json[]> =>
      (
        await db.sql(
          `SELECT action, actor_claimed AS actor, channel, details FROM audit_log WHERE subject_id='${text(id)}' ORDER BY id`,
        )
      ).map((row) => ({ ...row, details: JSON.parse(String(row.details)) as Json }));

    for (const channel of CHANNELS) {
      it(`support staff with a ${kind} that waits for approval approve, reject and cancel by ${channel}, with one event, and a line in the audit log that says why`, async () => {
        for (const action of ['approve', 'reject', 'cancel'] as const) {
          const { held } = await own.money();
          const status = ENDS[kind][action];
          const { id } = await own.createPending();
          const reason = `${action}: as agreed`;
          // However it is typed into a signal.
          const [who, why] =
            channel === 'ops'
              ? [sofia.name, reason]
              : [`  ${sofia.name.replace(' ', '   ')} `, ` ${reason} `];
          assert.deepEqual(await act(channel, action, id, who, why), { status, refused: null });
          await assertEnded(own, id, status, rejectionOf(kind, action, reason));
          assert.deepEqual(await acts(id), [
            {
              action: `${kind}.${action}`,
              actor: sofia.name,
              channel,
              details: { status, received: action === 'approve' ? 1 : 0, reason },
            },
          ]);
          // What is paid out is held until it has left.
          const left = kind === 'payout' && action === 'approve' ? THRESHOLD : 0n;
          assert.equal((await own.money()).held, held + left);
        }
      });
    }

    it(`support staff together count as one approval of a ${kind}: each further approval of theirs is refused and recorded`, async () => {
      await own.setPolicy({ approvals: 3 });
      const { id } = await own.createPending();
      const status = 'pending_approval';
      assert.deepEqual(await act('ops', 'approve', id), { status, refused: null });
      for (const [channel, who] of [
        ['ops', sofia.name],
        ['ops', nameOf('approves')],
        ['temporal', sofia.name],
        ['temporal', nameOf('approves')],
      ] as const) {
        assert.deepEqual(await act(channel, 'approve', id, who, 'once more'), {
          status,
          refused: COUNTS_ONCE,
        });
        assert.deepEqual((await acts(id)).at(-1), {
          action: `${kind}.approve_refused`,
          actor: who,
          channel,
          details: { status, refused: COUNTS_ONCE, reason: 'once more' },
        });
      }
      assert.equal((await acts(id)).length, 5);
      assert.equal(object((await own.read(id)).approval).received, 1);
      assert.deepEqual(
        await db.sql(
          `SELECT approver, actor_claimed AS actor, channel FROM approvals WHERE resource_id=${idLiteral(text(id))}`,
        ),
        [{ approver: 'support', actor: sofia.name, channel: 'ops' }],
      );
      answered(await own.act('approve', id, 'approver'), 200);
      assert.equal(
        answered(await own.act('approve', id, 'second'), 200).json.status,
        ENDS[kind].approve,
      );
    });

    it(`support staff cannot change a ${kind} that has ended: the action is refused with the state of the ${kind}, and recorded`, async () => {
      const { id } = await own.createPending();
      answered(await own.act('cancel', id, 'creator'), 200);
      for (const channel of CHANNELS) {
        const { status, refused } = await act(channel, 'approve', id);
        assert.equal(status, ENDS[kind].cancel);
        assert.match(refused ?? '', new RegExp(ENDS[kind].cancel));
      }
      assert.equal(
        (await acts(id)).filter(({ action }) => action === `${kind}.approve_refused`).length,
        2,
      );
      assert.equal((await own.events(id)).length, 1);
    });

    it(`a late action of support staff settles the expiry of a ${kind}, and is recorded as refused`, async () => {
      for (const channel of CHANNELS) {
        late = 0;
        // Of its own: what is posted to an account is never dated before the last posting to it.
        own = await openGuarded(api, {}, { kind });
        const { id } = await own.createPending();
        late = EXPIRES_IN_S * 1_000 + 1;
        const { status, refused } = await act(channel, 'approve', id);
        assert.equal(status, ENDS[kind].expire);
        assert.match(refused ?? '', new RegExp(ENDS[kind].expire));
        await assertEnded(own, id, ENDS[kind].expire);
        const [line] = await acts(id);
        assert.deepEqual(
          [line?.action, object(line?.details).status],
          [`${kind}.approve_refused`, ENDS[kind].expire],
        );
      }
    });

    it(`one signal to a ${kind} that waits for approval acts once: a repetition has the same result and is recorded once, even if it was refused`, async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.createPending();
      const [approve, refuse, again] = [newId(), newId(), newId()];
      for (let round = 0; round < 3; round += 1) {
        const one = await act('temporal', 'approve', id, sofia.name, 'why', approve);
        assert.deepEqual(one, { status: 'pending_approval', refused: null });
        const other = await act('temporal', 'approve', id, nameOf('nobody'), 'why', refuse);
        assert.match(other.refused ?? '', /is not active staff/);
        const second = await act('temporal', 'approve', id, nameOf('approves'), 'why', again);
        assert.deepEqual(second, { status: 'pending_approval', refused: COUNTS_ONCE });
      }
      assert.deepEqual(
        (await acts(id)).map(({ action, actor }) => [action, actor]),
        [
          [`${kind}.approve`, sofia.name],
          [`${kind}.approve_refused`, nameOf('nobody')],
          [`${kind}.approve_refused`, nameOf('approves')],
        ],
      );
      answered(await own.act('approve', id, 'approver'), 200);
      // Late, once more: what it was asked was done.
      assert.deepEqual(await act('temporal', 'approve', id, sofia.name, 'why', approve), {
        status: ENDS[kind].approve,
        refused: null,
      });
      await assertEnded(own, id, ENDS[kind].approve);
    });
  });
