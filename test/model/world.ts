import { randomUUID } from 'node:crypto';
import assert from 'node:assert/strict';
import { addMember } from '../../src/members/members.js';
import { eachAsset } from '../../src/core/amount.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Staff } from '../../src/db/entities/staff.js';
import type { Member } from '../../src/db/entities/parties.js';
import { BatchExecution } from '../../src/batches/execution.js';
import type { ValidationDeps } from '../../src/batches/validation/validate-batch.js';
import type { BatchControlDeps } from '../../src/batches/control.js';
import { bytesOf } from '../../src/spreadsheets/sheet.js';
import { openSheet } from '../../src/spreadsheets/open-sheet.js';
import { KINDS, fileMaker, validationParts } from '../batches/support.js';
import { ScriptedRail } from '../payouts/scripted-rail.js';
import { railsOf } from '../payouts/support.js';
import {
  type RequestOptions,
  startTestApi,
  type TestAnswer,
  type TestApi,
} from '../helpers/api.js';
import { openBank } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import type { WantedAccount } from '../helpers/world.js';
import { type ActorName, type Keyed, type ZoneName, ZONES } from './operations.js';
import { BASE_URL } from './reference-batch.js';
import { ReferenceLedger } from './reference-ledger.js';
import type { RefAccount } from './reference-state.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { addStaff } from '../helpers/staff.js';

/** A few hours before a month's end in tenant A's zone, and after every clock that the accounts were opened by. */
const START_THERE = Date.parse('2031-01-31T17:00:00.000Z');
const HOUR_MS = 3_600_000;

/** An API whose clock is the model's. One run at a time uses it. */
export class ModelApi {
  private readonly staff: Promise<Staff>;

  private constructor(
    readonly api: TestApi,
    private readonly clock: { now: () => number },
  ) {
    const wanted = { name: `of a model ${randomUUID()}`, rights: ['approve', 'cancel'] } as const;
    this.staff = addStaff(api.core.database, wanted, TEST_ACTOR);
  }

  static async start(db: TestDatabase): Promise<ModelApi> {
    const clock = { now: (): number => START_THERE };
    return new ModelApi(
      await startTestApi(db, { BASE_URL }, { clock: (): Instant => instant(clock.now()) }),
      clock,
    );
  }

  /** New tenants with their accounts, in the service and in the reference. */
  async newWorld(timeZone: ZoneName): Promise<ModelWorld> {
    const start = START_THERE - ZONES[timeZone] * HOUR_MS;
    this.clock.now = () => start;
    const network = `net-${randomUUID()}`;
    const [a, b, stranger] = [
      await openBank(this.api, { network, timeZone }),
      await openBank(this.api, { network }),
      await openBank(this.api, { network: `${network}x` }),
    ];
    const clerk = await addMember(
      this.api.core.database,
      systemClock,
      a.tenant.tenant.id,
      'clerk',
      TEST_ACTOR,
    );
    const open = async (
      bank: typeof a,
      wanted: WantedAccount,
      displayName: string,
    ): Promise<RefAccount> => {
      const { id, tenantId, alias, type, verifiedAt } = await bank.account(wanted);
      assert(type !== 'system');
      return {
        id,
        tenant: tenantId,
        type,
        alias,
        displayName,
        verifiedAt,
        isFrozen: false,
        clerkRole: null,
        balances: eachAsset(() => 0n),
        held: eachAsset(() => 0n),
        policies: new Map(),
        coming: new Map(),
        months: new Map(),
        entries: [],
        changedAt: 0,
      };
    };
    const person = { type: 'person', name: 'Ana María Pérez' } as const;
    const accounts = [
      await open(a, { ...person, alias: '$ana' }, 'Ana M. P.'),
      await open(a, { ...person, isVerified: false }, 'Ana M. P.'),
      await open(a, { name: 'Tienda Ñ' }, 'Tienda Ñ'),
      await open(a, { name: 'Bodega', alias: '$bodega' }, 'Bodega'),
      await open(a, { name: 'Caja', isVerified: false }, 'Caja'),
      await open(b, { name: 'Vecina', alias: '$vecina' }, 'Vecina'),
      await open(stranger, { name: 'Nadie' }, 'Nadie'),
      null,
    ];
    const tenants = [a, b, stranger].map(({ tenant: { tenant } }) => ({
      ...{ id: tenant.id, network: tenant.network },
      zoneMs: ZONES[tenant.timeZone as ZoneName] * HOUR_MS,
    }));
    const home = { a: a.tenant.tenant.id, b: b.tenant.tenant.id };
    const ledger = new ReferenceLedger(accounts, tenants, home, start);
    this.clock.now = () => ledger.now;
    const tokens = { owner: a.token, clerk: await a.issue(clerk), neighbour: b.token };
    return new ModelWorld(this.api, ledger, clerk, tokens, await this.staff);
  }
}

/** The service and the reference beside one another. */
export class ModelWorld {
  readonly deps: BatchControlDeps;
  /** Says to each question what the test wants. */
  readonly rail = new ScriptedRail();
  /** The work of a worker on payouts and batches, without Temporal. */
  readonly rails: ReturnType<typeof railsOf>;
  readonly validation: ValidationDeps;
  readonly execution: BatchExecution;
  /** Every key that was sent, and for what. */
  readonly keys: { readonly what: Keyed; readonly key: string }[] = [];
  private readonly missing = randomUUID();

  constructor(
    readonly api: TestApi,
    readonly ledger: ReferenceLedger,
    readonly clerk: Member,
    private readonly tokens: Readonly<Record<ActorName, string>>,
    /** Who may approve, reject and cancel as support. */
    readonly staff: Staff,
  ) {
    const { core } = api;
    const { database, clock } = core;
    this.deps = core;
    this.rails = railsOf({ database }, { clock, rail: this.rail });
    const { recipientBudget } = core;
    this.validation = {
      ...validationParts(core),
      recipientBudget,
      openSheet: async function* (file) {
        const pieces: Buffer[] = [];
        for await (const piece of file.pieces()) pieces.push(piece);
        yield* openSheet(bytesOf(pieces));
      },
      baseUrl: BASE_URL,
    };
    this.execution = new BatchExecution({
      ...core,
      kinds: KINDS,
      baseUrl: BASE_URL,
      files: fileMaker(database),
    });
  }

  ask(
    actor: ActorName,
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<TestAnswer> {
    return this.api.request(method, path, { token: this.tokens[actor], ...options });
  }

  /** An account that there is. */
  account(number: number): RefAccount {
    const account = this.ledger.accounts[number];
    assert(account !== null && account !== undefined);
    return account;
  }

  /** The id under which a request names it. */
  idOf(number: number): { readonly id: Uuid } {
    return { id: asUuid(this.ledger.accounts[number]?.id ?? this.missing) };
  }
}
