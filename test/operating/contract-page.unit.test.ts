import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ASSETS, LISTED_ASSETS } from '../../src/core/amount.js';
import { ERROR_CODES, type ErrorEntry, ERRORS } from '../../src/core/error-table.js';
import { type Permission, PERMISSIONS, ROLES, SCOPES } from '../../src/core/permissions.js';
import { RATE_CLASSES } from '../../src/http/rate-limit.js';
import { STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { asksForCode, STAFF_ACTIONS, type StaffActionName } from '../../src/staff/rules.js';
import { MOVEMENT_KINDS } from '../../src/db/entities/ledger.js';
import { SCHEDULE_MS } from '../../src/webhooks/rules.js';
import { OWN_RAILS } from '../../src/payouts/rails/rail.js';
import { PROBLEM_CODES } from '../../src/batches/validation/cells.js';
import { tableRows } from './pages.js';

const PAGE = 'docs/contract.md';
const text = readFileSync(PAGE, 'utf8');
const rows = tableRows(PAGE);

/** The text under a heading, up to the next one. */
function section(heading: string): string {
  const found = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0];
  assert.ok(found !== undefined, `${PAGE} has no heading ${heading}`);
  return found;
}

/** The words written as code under a heading. */
function codeIn(heading: string): string[] {
  return Array.from(section(heading).matchAll(/`([^`]+)`/g), ([, code = '']) => code);
}

describe('docs/contract.md', () => {
  it('lists every error code with its status and the keys of its details', () => {
    const written = rows.filter(([, status]) => /^[45]\d\d$/.test(status ?? ''));
    const wanted = ERROR_CODES.map((code) => {
      const { status, example }: ErrorEntry = ERRORS[code];
      return [code, String(status), Object.keys(example.details ?? {}).join(', ')];
    });
    assert.deepEqual(
      written.map(([code, status, , details]) => [code, status, details]),
      wanted,
    );
  });

  it('lists every operation with its scopes, the account of the role, and the roles', () => {
    const written = rows.flatMap(([first = '', scopes = '', roleIn = '', roles = '']) => {
      const operation = first.split(':')[0] ?? '';
      return operation in PERMISSIONS
        ? [[operation, scopes, roleIn, roles.split(';')[0] ?? '']]
        : [];
    });
    const wanted = Object.entries(PERMISSIONS).map(
      ([operation, permission]: [string, Permission]) => {
        const every = permission.roles === ROLES ? 'every' : permission.roles?.join(', ');
        return [operation, permission.scopes.join(', '), permission.roleIn ?? '–', every ?? '–'];
      },
    );
    assert.deepEqual(written, wanted);
  });

  it('explains every role, and names every scope', () => {
    assert.deepEqual(
      rows
        .filter(([role = '']) => (ROLES as readonly string[]).includes(role))
        .map(([role]) => role),
      [...ROLES],
    );
    for (const scope of SCOPES) assert.ok(codeIn('Roles and scopes').includes(scope), scope);
  });

  it('lists every staff action with its right, whether it takes two people, and whether the support desk asks for a code', () => {
    const written = rows.flatMap(([acts = '', right = '', twoPeople = '', code = '']) =>
      acts
        .split(', ')
        .flatMap((act) => (act in STAFF_ACTIONS ? [[act, right, twoPeople, code]] : [])),
    );
    const word = (is: boolean): string => (is ? 'yes' : 'no');
    const wanted = (Object.keys(STAFF_ACTIONS) as StaffActionName[]).map((act) => {
      const { right, ...rule } = STAFF_ACTIONS[act];
      return [act, right, word('twoPeople' in rule), word(asksForCode(act, 'support'))];
    });
    assert.deepEqual(written.sort(), wanted.sort());
    for (const right of STAFF_RIGHTS) assert.ok(codeIn('Staff').includes(right), right);
  });

  it('lists every asset with its scale', () => {
    for (const asset of ASSETS)
      assert.ok(
        rows.some(
          ([name, , scale]) => name === asset && scale === String(LISTED_ASSETS[asset].scale),
        ),
        asset,
      );
  });

  it('lists the limits of a person for every asset', () => {
    const [head = []] = rows.filter(([first]) => first === 'Limit of a person, raw');
    assert.deepEqual(
      head.slice(1),
      ASSETS.map((asset) => asset),
    );
    for (const limit of ['minimum', 'maximum', 'month'] as const)
      assert.deepEqual(
        rows.find(([first]) => first === limit)?.slice(1),
        ASSETS.map((asset) => LISTED_ASSETS[asset].limits[limit].toString()),
      );
  });

  it('lists every rate class', () => {
    const [classes = ''] =
      /Per token and class: (.*?) have a rate/s.exec(section('Rate limits'))?.slice(1) ?? [];
    assert.deepEqual(classes.split(/, | and /), [...RATE_CLASSES]);
  });

  it('and docs/webhooks.md list the same retry times of a delivery', () => {
    const waits = SCHEDULE_MS.map((ms) => {
      const [size, unit] =
        ms < 60_000 ? [1_000, 's'] : ms < 3_600_000 ? [60_000, 'min'] : [3_600_000, 'h'];
      return `${ms / size} ${unit}`;
    });
    const [first, ...later] = waits;
    const retries = `${later.slice(0, -1).join(', ')} and ${later.at(-1)}`;
    assert.ok(section('Webhook attempts').includes(`after ${first}, ${retries}`));
    const hours = Math.floor(SCHEDULE_MS.reduce((sum, ms) => sum + ms) / 3_600_000);
    const page = readFileSync('docs/webhooks.md', 'utf8').replaceAll('\n', ' ');
    assert.ok(page.includes(`after ${retries}, give or take 10 %: about ${hours} hours in all`));
  });

  it('and docs/payouts.md name every rail without a gateway', () => {
    const page = readFileSync('docs/payouts.md', 'utf8').split('\n## Rails\n')[1] ?? '';
    for (const rail of OWN_RAILS)
      for (const where of [section('Rails'), page])
        assert.ok(where.includes(rail), `Rails does not name ${rail}`);
  });

  it('lists every kind of movement', () => {
    for (const kind of MOVEMENT_KINDS) assert.ok(codeIn('Movements').includes(kind), kind);
  });

  it('lists every code of validation that is not a code of the API', () => {
    const own = PROBLEM_CODES.filter((code) => !(code in ERRORS));
    for (const code of own) assert.ok(codeIn('Validation').includes(code), code);
  });
});
