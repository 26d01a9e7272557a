import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { addMember } from '../../src/members/members.js';
import { closeAccount } from '../../src/accounts/status.js';
import { readAccountDetails } from '../../src/accounts/read-accounts.js';
import { systemClock } from '../../src/core/instant.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import { testDatabase } from '../helpers/database.js';
import { makeTenant, TEST_ACTOR, type TestTenant } from '../helpers/world.js';
import { type Ran, run } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const RESULT = z.strictObject({
  lines: z.number(),
  opened: z.number(),
  known: z.number(),
  bad: z.number(),
  dry_run: z.boolean(),
});

const test = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'import-'));
const people = new SignedInPeople(test);
await people.signIn('maria', ['manage']);

describe('the import of accounts', () => {
  let world: TestTenant;

  beforeEach(async () => {
    world = await makeTenant(test.database);
  });
  after(() => {
    people.remove();
    rmSync(folder, { recursive: true });
  });

  function file(content: string | Buffer): string {
    const path = join(folder, `${randomUUID()}.csv`);
    writeFileSync(path, content);
    return path;
  }
  const ops = (path: string, ...args: readonly string[]): Promise<Ran> =>
    run(
      'src/ops/main.js',
      ['accounts', 'import', path, '--tenant', world.tenant.name, '--json', ...args],
      people.env,
    );
  /** The counts that the command printed; it must end with this code. */
  async function imported(code: number, path: string, ...args: readonly string[]) {
    const ran = await ops(path, ...args);
    assert.equal(ran.code, code, ran.stderr);
    return { ...RESULT.parse(JSON.parse(ran.stdout)), stderr: ran.stderr };
  }
  const own = async (): Promise<Account[]> =>
    (
      await test.database.reader.select(
        accounts,
        { tenantId: world.tenant.id },
        { orderBy: ['id'] },
      )
    ).filter(({ type }) => type !== 'system');

  it('opens each line like `accounts open`, with its roles, and records it in the audit log', async () => {
    const clerk = await addMember(test.database, systemClock, world.tenant.id, 'clerk', TEST_ACTOR);
    const path = file(
      [
        'type,name,alias,phone,grant',
        'person,Ana  María Pérez,$Ana,300 111 2233,',
        'business,"Acme, Sons & Co.",$acme,,"owner=owner,clerk=operator"',
        'person,王小明,,+57 (300) 111-2234,owner=viewer',
        '',
      ].join('\n'),
    );
    const { stderr, ...counted } = await imported(0, path);
    assert.deepEqual(counted, { lines: 3, opened: 3, known: 0, bad: 0, dry_run: false });
    assert.equal(stderr, '');
    const opened = new Map((await own()).map((one) => [one.name, one]));
    const acme = opened.get('Acme, Sons & Co.');
    assert.deepEqual(
      [...opened.values()]
        .map(({ name, type, alias, phone, status, verifiedAt }) =>
          [name, type, alias, phone, status, verifiedAt].join('|'),
        )
        .sort(),
      [
        'Acme, Sons & Co.|business|$acme||active|',
        'Ana María Pérez|person|$ana|+573001112233|active|',
        '王小明|person||+573001112234|active|',
      ],
    );
    const { members } = await readAccountDetails(test.database.reader, acme!.id);
    assert.deepEqual(members, [
      { name: 'owner', role: 'owner' },
      { name: clerk.name, role: 'operator' },
    ]);
    const acts = await test.sql(
      `SELECT actor_claimed, COUNT(*) AS count FROM audit_log WHERE action='account.open' AND tenant_id=X'${world.tenant.id.replaceAll('-', '')}' GROUP BY actor_claimed`,
    );
    assert.deepEqual(acts, [{ actor_claimed: 'maria', count: '3' }]);
  });

  it('opens each account once: importing the same file again changes nothing', async () => {
    const path = file(
      'name;phone;type;alias\nAna;3001112233;person;\nAcme;;business;$acme\nBob;3001112235;person;$bob\n',
    );
    assert.equal((await imported(0, path)).opened, 3);
    const before = await own();
    await test.sql(`UPDATE accounts SET alias='$bobby' WHERE alias='$bob'`);
    const again = await imported(0, path);
    assert.deepEqual([again.opened, again.known, again.bad], [0, 3, 0]);
    assert.deepEqual(
      (await own()).map(({ id }) => id),
      before.map(({ id }) => id),
    );
  });

  it('two simultaneous imports of the same accounts open each account once', async () => {
    const lines = Array.from(
      { length: 1_200 },
      (_, index) => `person,Person ${index},,+5730211${String(index).padStart(5, '0')}`,
    );
    const path = file(`type,name,alias,phone\n${lines.join('\n')}\n`);
    const results = await Promise.all([ops(path), ops(path)]);
    const counts = results.map(({ stdout }) => RESULT.parse(JSON.parse(stdout)));
    assert.equal(
      counts.reduce((sum, { opened }) => sum + opened, 0),
      1_200,
    );
    assert.deepEqual(
      results.map(({ code }, index) => [code, counts[index]?.bad]),
      [
        [0, 0],
        [0, 0],
      ],
    );
    assert.equal((await own()).length, 1_200);
    const third = await imported(0, path);
    assert.deepEqual([third.opened, third.known], [0, 1_200]);
  });

  it('a dry run of an import of accounts gives the same report and opens no account', async () => {
    const path = file('type,name,alias,phone\nperson,Ana,$ana,\nperson,Root,$admin,\n');
    const dry = await imported(1, path, '--dry-run');
    assert.deepEqual([dry.opened, dry.bad, dry.dry_run], [1, 1, true]);
    assert.deepEqual(await own(), []);
    assert.equal((await imported(1, path)).opened, 1);
  });

  it('opens the good lines and reports each bad one with line, column, code and value', async () => {
    await imported(0, file('type,name,alias,phone\nperson,Known,$known,3001110001\n'));
    const closing = await imported(0, file('type,name,alias,phone\nperson,Closing,$closing,\n'));
    assert.equal(closing.opened, 1);
    const closed = (await own()).find(({ alias }) => alias === '$closing');
    await closeAccount(test.deps, closed!.id, { actor: TEST_ACTOR, reason: null });
    const gone = await addMember(test.database, systemClock, world.tenant.id, 'gone', TEST_ACTOR);
    await test.sql(`UPDATE members SET is_active=NULL WHERE id=X'${gone.id.replaceAll('-', '')}'`);
    const report = join(folder, `${randomUUID()}.csv`);
    const path = file(
      [
        'type,name,alias,phone,grant', // 1
        'person,Good,$good,,', // 2
        'persona,Ana,$a1x,,', // 3
        'person,,$a2x,,', // 4
        'person,No names,,,', // 5
        'person,Bad alias,$a,,', // 6
        'person,Bad phone,,573001112236.0,', // 7
        'person,Reserved,$admin,,', // 8
        'person,Taken,$known,,', // 9
        'person,Phone taken,,+573001110001,', // 10
        'person,In quarantine,$closing,,', // 11
        'person,Again,$GOOD,,', // 12
        'person,Too few,$few', // 13
        'person,Stranger,$stranger,,nobody=owner', // 14
        'person,Boss,$boss1,,owner=boss', // 15
        'person,"Two', // 16
        'lines",$two.lines,,', // 16 to 17
        'person,=1+1,$x,-5,', // 18
        'person,An\u202ea,$turned,,', // 19
        'person,Last,$last,,', // 20
        'person,Of a removed member,$of.gone,,gone=owner', // 21
        'person,Phone,,3001110002,', // 22
        'person,Same phone,,+57 300 111 0002,', // 23
      ].join('\r\n'),
    );
    const { stderr, ...counted } = await imported(1, path, '--report', report);
    assert.deepEqual(counted, { lines: 21, opened: 3, known: 0, bad: 18, dry_run: false });
    assert.match(stderr, /^line 3, type "persona": must be person or business \(invalid_field\)$/m);
    assert.match(stderr, /^\{.*"18 of 21 lines were refused; they are in .*\.csv"\}\}$/m);
    const reported = readFileSync(report, 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      reported.map((line) => line.split(',').slice(0, 4).join(',')),
      [
        'line,column,code,value',
        '3,type,invalid_field,persona',
        '4,name,missing_field,',
        '5,,missing_identifier,',
        '6,alias,invalid_field,$a',
        '7,phone,invalid_field,573001112236.0',
        '8,alias,alias_reserved,$admin',
        '9,alias,alias_taken,$known',
        `10,phone,phone_taken,"'+573001110001"`,
        '11,alias,alias_in_quarantine,$closing',
        '12,alias,duplicate_line,$GOOD',
        '13,,wrong_column_count,',
        '14,grant,unknown_member,nobody=owner',
        '15,grant,invalid_field,owner=boss',
        '16,name,invalid_field,Two lines',
        '18,alias,invalid_field,$x',
        `18,phone,invalid_field,"'-5"`,
        '19,name,invalid_field,An\\u202ea',
        '21,grant,unknown_member,gone=owner',
        `23,phone,duplicate_line,"'+57 300 111 0002"`,
      ],
    );
    assert.equal(statSync(report).mode & 0o777, 0o600);
  });

  it('opens no account if the file cannot be read to its end', async () => {
    const path = file(
      Buffer.from('type,name,alias\nperson,Ana,$ana\nperson,Pe\xF1a,$pena\n', 'latin1'),
    );
    const ran = await ops(path);
    assert.equal(ran.code, 1, ran.stderr);
    assert.match(ran.stderr, /^\{"error".* is not UTF-8 .*\n$/);
    assert.deepEqual([ran.stdout, await own()], ['', []]);
  });

  it('refuses an alias of another account, and does not treat it as the same account', async () => {
    await imported(0, file('type,name,alias,phone\nperson,Juan Pérez,$juan,3001110009\n'));
    const other = await imported(
      1,
      file('type,name,alias,phone\nperson,Juan Pérez,$juan,3001110010\n'),
    );
    assert.deepEqual([other.known, other.bad], [0, 1]);
    assert.match(other.stderr, /alias_taken/);
  });

  it('never overwrites the file that it reads with its report', async () => {
    const content = 'type,name,alias,phone\nperson,Ana Ruiz,$ana.ruiz,\n';
    const path = file(content);
    const link = join(folder, `${randomUUID()}.csv`);
    symlinkSync(path, link);
    for (const report of [path, link, relative(process.cwd(), path)]) {
      const ran = await ops(path, '--report', report);
      assert.equal(ran.code, 2, ran.stderr);
      assert.match(ran.stderr, /--report must not name the imported file/);
    }
    assert.equal(readFileSync(path, 'utf8'), content);
    assert.deepEqual(await own(), []);
  });

  it('opens 5,000 lines, every thousandth of them bad, and reports each bad one', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) =>
      index % 1_000 === 999
        ? `person,Bad ${index},$bad alias,`
        : `person,Person ${index},$person.${index},+5732${String(10_000_000 + index)}`,
    );
    const path = file(`type,name,alias,phone\n${lines.join('\n')}\n`);
    const { stderr, ...counted } = await imported(1, path);
    assert.deepEqual(counted, { lines: 5_000, opened: 4_995, known: 0, bad: 5, dry_run: false });
    for (const line of [1_001, 2_001, 3_001, 4_001, 5_001])
      assert.match(stderr, new RegExp(`^line ${line}, alias`, 'm'));
    assert.equal((await own()).length, 4_995);
    const again = await imported(1, path);
    assert.deepEqual([again.opened, again.known, again.bad], [0, 4_995, 5]);
  });
});
